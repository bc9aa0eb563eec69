/**
 * output: reads a job's output from an offset, and waits for more, for a line, for a pause, for a port or for the end.
 */
import { z } from 'zod';

import { wire } from '#contract';
import { JobFault } from './job-fault.ts';
import { defineJobOperation } from './job-operation.ts';
import { JobStatus } from './job-record.ts';
import { OutputEvent, OutputEvents } from './output-events.ts';
import { readText } from './output-text.ts';
import { waitUntil } from './wait-until.ts';

const MAX_WAIT_MS = 600_000;
/** Shorter than the default timeout of clients. */
const DEFAULT_WAIT_MS = 20_000;
/** The wait itself is the deadline; this only has to be longer. */
const DEADLINE_MS = MAX_WAIT_MS + 30_000;

const Stream = z.enum(['stdout', 'stderr']);

const Until = z
  .object({
    pattern: z
      .string()
      .min(1)
      .max(1024)
      .nullish()
      .describe('A line from `since` on matches this Rust regex, also an unfinished one.'),
    stream: Stream.nullish().describe('Only lines of this stream. Default both.'),
    exit: z.boolean().nullish().describe('The job has ended. Any wait ends with the job.'),
    idle_ms: wire.uint32().max(MAX_WAIT_MS).nullish().describe('No output came for this long since the call.'),
    port: z.int().min(1).max(65_535).nullish().describe('A program listens on this port of the loopback address.'),
  })
  .refine(
    ({ stream: _, ...conditions }) => Object.values(conditions).some((value) => value != null && value !== false),
    'name at least one of pattern, exit, idle_ms and port',
  )
  .refine(({ stream, pattern }) => stream == null || pattern != null, '`stream` belongs to `pattern`');

const Response = z
  .object({
    status: JobStatus,
    exit_code: wire.int32().nullish().describe('null while it runs, and when a signal ended it.'),
    from: wire.uint64().describe('Offset of the first byte of `text`.'),
    next: wire.uint64().describe('Offset to read on from.'),
    lost: wire.uint64().describe('Bytes between `since` and `from` that are no longer kept.'),
    text: z.string().describe('Output of both streams; invalid UTF-8 becomes U+FFFD.'),
    pieces: z
      .array(z.object({ stream: Stream, text: z.string() }))
      .optional()
      .describe('The same by stream; absent when all of it is standard output.'),
    done: z.boolean().describe('Whether the job has ended and all its output was read.'),
    matched: z
      .object({
        by: z.enum(['pattern', 'exit', 'idle', 'port', 'timeout']),
        offset: wire.uint64().optional().describe('Offset of the matching line.'),
        line: z.string().optional().describe('The matching line.'),
      })
      .optional()
      .describe('Event that ended the wait; absent without a wait, and when new output ended it.'),
  })
  .meta({ title: 'OutputResponse' });

/** Fields that all variants of the operation share. */
const FACTS = {
  effect: 'read',
  permissions: ['process.read'],
  deadlineMs: DEADLINE_MS,
  reads: { line: ['job_id'] },
} as const;

export const output = (worker: string) =>
  defineJobOperation({
    ...FACTS,
    summary:
      'Read the output of a background job from an offset on; optionally wait until a line matches, it is quiet, a port opens or it ends.',
    details:
      'Offsets count the bytes of both streams in the order they came. Pass `next` as `since` to read on without a gap; ' +
      '`lost` says how many bytes were dropped before they were read. The first condition of `until` ends the wait, and `matched` ' +
      'says which. Callers that take events get the output as it comes.',
    request: z
      .object({
        job_id: z.string().describe(`From ${worker}::exec_bg.`),
        since: wire.uint64().default(0).describe('Offset to read from: 0, or `next` of an earlier answer.'),
        max_bytes: wire.uint64().min(1).max(1_048_576).default(65_536).describe('Most output in the answer, in bytes.'),
        wait_ms: wire
          .uint32()
          .max(MAX_WAIT_MS)
          .nullish()
          .describe(
            'Milliseconds to wait, at most 600000: for `until`, or for more output without it. ' +
              'Default 0, or 20000 with `until`.',
          ),
        until: Until.nullish().describe('Condition to wait for.'),
        strip_ansi: z.boolean().default(false).describe('Remove colours and cursor movements.'),
      })
      .meta({ title: 'OutputRequest' }),
    response: Response,
    events: OutputEvent,
    errors: ['S210', 'S216', 'S217', 'S220', 'S223'],

    async handle({ job_id, since, max_bytes, wait_ms, until, strip_ansi }, context, scope) {
      const job = context.jobs.find(job_id);
      const { ring } = job;
      if (since > ring.end) {
        throw new JobFault(
          'beyond-end',
          `\`since\` is ${since}, but only ${ring.end} bytes came; use \`next\` of the last answer`,
        );
      }
      const waitMs = wait_ms ?? (until ? DEFAULT_WAIT_MS : 0);
      using events = OutputEvents.open(ring, since, scope);
      const isWaiting = waitMs > 0 || until != null;
      const wait = { since, until, waitMs, stripsAnsi: strip_ansi };
      const matched = isWaiting ? await waitUntil(job, wait, context, scope.signal) : undefined;

      events?.flush();
      if (ring.isFinished) await job.settled;
      const { from, next, pieces } = readText(ring, { since, maxBytes: max_bytes, stripsAnsi: strip_ansi });
      const byStream = pieces.map(({ stream, text }) => ({ stream, text }));
      return {
        status: job.status,
        exit_code: job.exitCode,
        ...{ from, next, lost: from - since },
        text: byStream.map(({ text }) => text).join(''),
        ...(byStream.some(({ stream }) => stream === 'stderr') && { pieces: byStream }),
        done: ring.isFinished && next === ring.end,
        ...(matched && { matched }),
      };
    },
  });
