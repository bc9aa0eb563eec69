/** Reads and waits for the output of a job of shell, in the caller's name. */
import { z } from 'zod';

import type { CallScope } from '#contract';

/** Largest answer of shell. */
const PAGE_BYTES = 1_048_576;
/** The longest wait of one call of shell. */
const MAX_WAIT_MS = 600_000;
const GRACE_MS = 15_000;

const OutputReply = z.object({
  status: z.enum(['running', 'finished', 'killed', 'failed']),
  exit_code: z.int().nullish(),
  next: z.int(),
  lost: z.int(),
  text: z.string(),
  done: z.boolean(),
  matched: z.object({ by: z.string(), line: z.string().optional() }).optional(),
});

export interface Until {
  readonly port?: number | undefined;
  readonly text?: string | undefined;
  /** Ends the wait when there was no output for this long. */
  readonly idleMs?: number | undefined;
}

export interface JobState {
  status: 'running' | 'finished' | 'killed' | 'failed';
  exitCode?: number;
  /** Output from `since` on. */
  text: string;
  next: number;
  /** Bytes before `text` that are no longer kept. */
  lost: number;
  /** Event that ended the wait. */
  matched?: { by: string; line?: string | undefined };
}

/**
 * Waits for the end of the job, for a condition of `until`, or for the timeout; then returns all output since `since`.
 */
export async function waitForJob(
  jobId: string,
  { since, waitMs, until }: { since: number; waitMs: number; until?: Until | undefined },
  scope: CallScope,
): Promise<JobState> {
  const wanted = { exit: true, port: until?.port, pattern: until?.text, idle_ms: until?.idleMs };
  const waiting = { until: wanted, wait_ms: Math.min(waitMs, MAX_WAIT_MS) };
  const first = await ask(jobId, { since, ...(waitMs > 0 && waiting) }, scope, waitMs);
  let [text, last] = [first.text, first];
  while (last.text !== '' && !last.done) {
    last = await ask(jobId, { since: last.next }, scope, 0);
    text += last.text;
  }
  return {
    status: last.status,
    ...(last.exit_code != null && { exitCode: last.exit_code }),
    text,
    next: last.next,
    lost: first.lost,
    ...(first.matched && { matched: first.matched }),
  };
}

async function ask(jobId: string, request: object, { bus, signal, emit }: CallScope, waitMs: number) {
  const sent = { job_id: jobId, max_bytes: PAGE_BYTES, strip_ansi: true, ...request };
  const options = { timeoutMs: waitMs + GRACE_MS, signal, ...(emit && { onEvent: emit }) };
  return OutputReply.parse(await bus.call('shell::output', sent, options));
}
