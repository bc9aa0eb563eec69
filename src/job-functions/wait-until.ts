/** Waits for the first of several conditions of a job, its end, or a timeout. */
import { setTimeout as passed } from 'node:timers/promises';

import type { BackgroundJob } from './background-job.ts';
import type { JobContext } from './job-operation.ts';
import { readText } from './output-text.ts';
import { PatternScan } from './pattern-scan.ts';

const PORT_POLL_MS = 50;
/** Longer than any incomplete character or escape sequence at the end of the output. */
const PEEK_BYTES = 1024;

export interface Until {
  readonly pattern?: string | null | undefined;
  readonly stream?: 'stdout' | 'stderr' | null | undefined;
  readonly exit?: boolean | null | undefined;
  readonly idle_ms?: number | null | undefined;
  readonly port?: number | null | undefined;
}

export interface Wait {
  readonly since: number;
  readonly waitMs: number;
  /** Without it the wait is for more output. */
  readonly until?: Until | null | undefined;
  readonly stripsAnsi: boolean;
}

export interface Matched {
  readonly by: 'pattern' | 'exit' | 'idle' | 'port' | 'timeout';
  readonly offset?: number;
  readonly line?: string;
}

/** Undefined when more output came and the wait was for nothing else. Throws when the caller disconnects. */
export async function waitUntil(
  job: BackgroundJob,
  wait: Wait,
  context: JobContext,
  caller: AbortSignal,
): Promise<Matched | undefined> {
  const over = new AbortController();
  const signal = AbortSignal.any([caller, over.signal]);
  try {
    const scan = await scanOf(job, wait, context, caller);
    if (scan.found) return scan.found;
    const matched = await Promise.race(conditions(job, wait, { ...context, scan: scan.again, signal }));
    caller.throwIfAborted();
    return matched;
  } finally {
    over.abort();
  }
}

type Scan = (signal: AbortSignal) => Promise<Matched | undefined>;

/** Scans the output so far first, so that an invalid pattern is reported before any wait. */
async function scanOf(
  job: BackgroundJob,
  { since, until, stripsAnsi }: Wait,
  { regexes }: JobContext,
  signal: AbortSignal,
) {
  const { pattern, stream } = until ?? {};
  if (pattern == null) return {};
  const scan = new PatternScan(job.ring, regexes, { since, pattern, stream: stream ?? undefined, stripsAnsi });
  await scan.check(signal);
  const again: Scan = async (while_) => {
    const found = await scan.scan(while_);
    return found && { by: 'pattern', ...found };
  };
  return { again, found: await again(signal) };
}

type Conditions = JobContext & { scan: Scan | undefined; signal: AbortSignal };

function conditions(
  job: BackgroundJob,
  { since, until, waitMs, stripsAnsi }: Wait,
  { scan, signal, isListening }: Conditions,
) {
  const all: Promise<Matched | undefined>[] = [
    ended(job, scan, signal),
    passed(waitMs, { by: 'timeout' as const }, { signal }),
  ];
  if (!until) all.push(more(job, { since, stripsAnsi }, signal));
  if (until?.idle_ms != null) all.push(idle(job, until.idle_ms, signal));
  if (until?.port != null) all.push(listening(until.port, (port) => isListening(port, job), signal));
  // The other conditions are aborted, and throw.
  return all.map((condition) => condition.catch((error: unknown) => (signal.aborted ? undefined : raise(error))));
}

/** The end finishes every wait, because no more output can come. The last output is searched first. */
async function ended(job: BackgroundJob, scan: Scan | undefined, signal: AbortSignal): Promise<Matched> {
  while (!job.ring.isFinished) {
    const { end } = job.ring;
    const found = await scan?.(signal);
    if (found) return found;
    if (job.ring.end === end && !job.ring.isFinished) await job.ring.changed(signal);
    signal.throwIfAborted();
  }
  const found = await scan?.(signal);
  await job.settled;
  return found ?? { by: 'exit' };
}

/** Waits for whole characters: the first bytes of one are not returned, so the reader would get nothing. */
async function more(
  job: BackgroundJob,
  { since, stripsAnsi }: Pick<Wait, 'since' | 'stripsAnsi'>,
  signal: AbortSignal,
): Promise<undefined> {
  const hasText = () => readText(job.ring, { since, maxBytes: PEEK_BYTES, stripsAnsi }).next > since;
  while (!hasText() && !job.ring.isFinished) {
    await job.ring.changed(signal);
    signal.throwIfAborted();
  }
  // The condition `ended` reports the end.
  if (job.ring.end <= since) await new Promise(() => {});
}

/** Measures the pause from the call on: a program that just received input may have been quiet for long before. */
function idle(job: BackgroundJob, idleMs: number, signal: AbortSignal): Promise<Matched> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve({ by: 'idle' }), idleMs);
    const stop = job.ring.onChange(() => timer.refresh());
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      stop();
    });
  });
}

async function listening(
  port: number,
  isListening: (port: number) => Promise<boolean>,
  signal: AbortSignal,
): Promise<Matched> {
  while (!(await isListening(port))) await passed(PORT_POLL_MS, undefined, { signal });
  return { by: 'port' };
}

function raise(error: unknown): never {
  throw error;
}
