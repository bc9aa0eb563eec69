/**
 * Runs a command for a waiting caller that wants more than its answer: its output while it runs, as events or through a
 * channel, and a job instead of a long wait.
 */
import { z } from 'zod';

import { wire, type CallScope } from '#contract';
import { OutputRing, type Execution, type ExecutionResult, type OutputPiece } from '#host';
import { ChannelRefSchema, type ChannelRef, type ChannelWriter } from '#protocol';
import type { BackgroundJob, JobTarget, JobWork } from './background-job.ts';
import { JobFault } from './job-fault.ts';
import type { Jobs } from './jobs.ts';
import { OutputEvents } from './output-events.ts';
import { DEFAULT_RING_BYTES } from './ring-bytes.ts';
import { isSettledWithin } from './timeout.ts';

/** Fields of the request; the descriptions name the worker's own time limits. */
export const liveFields = ({ cap, limit }: { cap: string; limit: string }) => ({
  output: ChannelRefSchema.nullish().describe(
    'Writing end of a channel that gets all output as it comes: standard output as bytes, standard error as text ' +
      '`{"t":"err","base64"}`. A slow reader blocks the command, as with a pipe; the reply is unchanged.',
  ),
  background_after_ms: wire
    .uint64()
    .nullish()
    .describe(
      `If it still runs after this many milliseconds, at most ${cap}, it becomes a background job: the answer has its ` +
        `\`job_id\`, and ${limit} does not end it.`,
    ),
});

/** Fields of the response. */
export const liveAnswer = {
  streamed: z.literal(true).optional().describe('All output went through `output`; absent without it.'),
  job_id: z.string().optional().describe('The job that the command became, with background_after_ms.'),
  next: wire.uint64().optional().describe('Output so far, in bytes; pass it as `since` to continue there.'),
};

export interface LiveRequest {
  readonly argv: readonly string[];
  readonly runsOn: JobTarget;
  /** Group of the job that the command may become. */
  readonly group?: string;
  readonly output: ChannelRef | null | undefined;
  readonly backgroundAfterMs: number | undefined;
}

interface Readers {
  ring: OutputRing | undefined;
  onPiece: ((piece: OutputPiece) => Promise<void>) | undefined;
}

export type LiveOutcome<Work> = { execution: Work; streamed?: true } & (
  | { result: ExecutionResult }
  | { job: BackgroundJob }
);

export async function runLive<Work extends Execution>(
  { argv, runsOn, group, output, backgroundAfterMs }: LiveRequest,
  { jobs, scope, toWork }: { jobs: Jobs; scope: CallScope; toWork?: (execution: Work, ring: OutputRing) => JobWork },
  begin: (readers: Readers) => Promise<Work>,
): Promise<LiveOutcome<Work>> {
  using slot = backgroundAfterMs === undefined ? undefined : jobs.reserve(group);
  const ring = scope.emit || backgroundAfterMs !== undefined ? new OutputRing(DEFAULT_RING_BYTES) : undefined;
  await using copy = output ? new OutputCopy(await openWriter(output, scope)) : undefined;
  const streamed = copy && { streamed: true as const };
  const startedAtMs = Date.now();
  const execution = await begin({ ring, onPiece: copy && ((piece) => copy.write(piece)) });
  using events = ring && OutputEvents.open(ring, 0, scope);

  const isLong = slot !== undefined && !(await isSettledWithin(execution.done, backgroundAfterMs!));
  const result = isLong ? undefined : await execution.done;
  events?.flush();
  if (!result) {
    execution.release();
    const work = toWork?.(execution, ring!) ?? execution;
    const job = jobs.adopt(
      { argv, runsOn, group, hasInput: false, caller: scope.call.principal, startedAtMs },
      work,
      ring!,
    );
    return { execution, ...streamed, job };
  }
  return { execution, ...streamed, result };
}

async function openWriter(output: ChannelRef, { bus }: CallScope): Promise<ChannelWriter> {
  if (output.direction !== 'write') throw new JobFault('bad-request', '`output` must be the writing end of a channel');
  try {
    return await bus.openWriter(output);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new JobFault('bad-request', `\`output\` cannot be written to: ${reason}`);
  }
}

/** Copies output to the channel of a caller; drops the rest when the reader has disconnected. */
class OutputCopy implements AsyncDisposable {
  readonly #writer: ChannelWriter;
  #isOpen = true;

  constructor(writer: ChannelWriter) {
    this.#writer = writer;
  }

  async write({ stream, bytes }: OutputPiece): Promise<void> {
    if (!this.#isOpen) return;
    const item =
      stream === 'stdout' ? Buffer.from(bytes) : JSON.stringify({ t: 'err', base64: bytes.toString('base64') });
    await this.#writer.write(item).catch(() => void (this.#isOpen = false));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await this.#writer.end();
  }
}
