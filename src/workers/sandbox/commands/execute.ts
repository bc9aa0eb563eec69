/**
 * Runs one command in a sandbox, from the request to the reply.
 *
 * A command that could not be started is reported as a shell does, by exit code 126 or 127; only a timeout is a
 * failure. A command that still runs after `backgroundAfterMs` becomes a job.
 */
import { z } from 'zod';

import { wire, type CallScope } from '#contract';
import type { RefusedTarget } from '#egress';
import { Execution, type ExecutionResult } from '#host';
import { runLive, type BackgroundJob } from '#job-functions';
import type { ChannelRef } from '#protocol';
import { GuestError } from '#sandbox/guest';
import { errors } from '../errors.ts';
import { watchLimits } from '../live/limit-watch.ts';
import type { LiveSandbox } from '../live/live-sandbox.ts';
import type { SandboxContext } from '../worker.ts';
import type { WantedCommand } from './command-fields.ts';
import { decodeStdin, guestCommand, MAX_OUTPUT_BYTES } from './guest-command.ts';
import { notStarted } from './not-started.ts';
import { guestWork } from './start-job.ts';

const DEFAULT_TIMEOUT_MS = 300_000;

/** A shell's exit code after SIGKILL; here only a caller that disconnected causes it. */
const KILLED = 137;

/** Result of a command with a timeout of 0, which is not started. */
const NO_TIME: ExecutionResult = {
  exitCode: null,
  signal: null,
  timedOut: true,
  durationMs: 0,
  stdout: Buffer.alloc(0),
  stderr: Buffer.alloc(0),
  stdoutTruncated: false,
  stderrTruncated: false,
};

export const replyFields = {
  stdout: z.string().describe('Output, invalid UTF-8 replaced; the first MiB.'),
  stderr: z.string(),
  exit_code: wire
    .int32()
    .nullish()
    .describe('128 plus the signal when one ended it; 127 when there is no such program.'),
  timed_out: z.boolean().describe('Always false: a timeout is the error S200.'),
  duration_ms: wire.uint64(),
  success: z.boolean().describe('Whether the exit code is 0.'),
  stdout_truncated: z.boolean().optional().describe('Whether there was more than the first MiB.'),
  stderr_truncated: z.boolean().optional(),
  killed_by: z
    .enum(['memory', 'processes'])
    .optional()
    .describe('The sandbox limit that ended it, if known; stderr ends with advice.'),
  egress_refused: z
    .array(z.object({ host: z.string(), reason: z.string().describe('Reason and alternative.') }))
    .optional()
    .describe('Hosts that were refused while this ran, at most ten; absent if there were none.'),
};

export interface LiveCommand extends WantedCommand {
  timeoutMs: number | null;
  /** Channel that gets all output as it arrives. */
  output?: ChannelRef | null | undefined;
  backgroundAfterMs?: number | undefined;
}

export async function execute(
  sandbox: LiveSandbox,
  wanted: LiveCommand,
  { config, sandboxes }: Pick<SandboxContext, 'config' | 'sandboxes'>,
  scope: CallScope,
) {
  const { argv, workdir, output } = wanted;
  const askedMs = wanted.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const effectiveMs = Math.min(askedMs, config.max_exec_timeout_ms);
  const backgroundAfterMs = cappedAt(config.max_exec_timeout_ms, wanted.backgroundAfterMs);
  const isFollowed = backgroundAfterMs !== undefined;
  const limitHit = watchLimits(sandbox);
  const refusals = sandbox.egress?.log.watchRefusals();
  const stdin = decodeStdin(wanted.stdin);
  const isStreamed = isFollowed || output != null || scope.emit !== undefined;
  const command = guestCommand(sandbox, wanted, { hasInput: stdin !== undefined, isStreamed, isFollowed });
  const { signal } = scope;
  const timeoutMs = isFollowed && wanted.timeoutMs === null ? undefined : effectiveMs;
  const limits = { stdin, maxOutputBytes: MAX_OUTPUT_BYTES, timeoutMs, signal };
  let refused: RefusedTarget[] = [];
  const running = sandbox.executing(async () => {
    if (effectiveMs === 0) return { result: NO_TIME };
    const asked = { argv, runsOn: 'guest' as const, group: sandbox.facts.id, output, backgroundAfterMs };
    return runLive(
      asked,
      {
        jobs: sandboxes.jobs,
        scope,
        toWork: (execution, ring) => guestWork(sandbox, { execution, ring, argv, workdir }),
      },
      async (readers) => new Execution(await sandbox.agent.start(command, { signal }), { ...limits, ...readers }),
    );
  });
  const outcome = await running
    .catch((error: unknown) => ({ result: whyNotStarted(error) }))
    .finally(() => (refused = refusals?.() ?? []));
  const streamed = 'streamed' in outcome && outcome.streamed ? { streamed: true as const } : {};
  const asked = { argv, workdir, askedMs, effectiveMs, refused, streamed };
  if ('job' in outcome) return { ...toJobReply(outcome), ...streamed, ...refusedField(refused) };
  const reply = toReply(outcome.result, asked);
  const hit = reply.success ? undefined : await limitHit(reply.exit_code);
  if (hit?.killedBy === 'memory') await sandboxes.reportOom(sandbox);
  const limitFields = hit && { stderr: reply.stderr + hit.line, ...(hit.killedBy && { killed_by: hit.killedBy }) };
  return { ...reply, ...limitFields };
}

function cappedAt(maxMs: number, askedMs: number | undefined): number | undefined {
  return askedMs === undefined ? undefined : Math.min(askedMs, maxMs);
}

interface Asked {
  argv: string[];
  workdir: string | null;
  askedMs: number;
  /** The timeout as capped by the configuration. */
  effectiveMs: number;
  refused: RefusedTarget[];
  streamed: { streamed?: true };
}

const refusedField = (refused: RefusedTarget[]) => (refused.length > 0 ? { egress_refused: refused } : {});

/** The answer for a command that became a job: its output so far. */
function toJobReply({ execution, job }: { execution: Execution; job: BackgroundJob }) {
  const { stdout, stderr, stdoutTruncated, stderrTruncated } = execution.outputSoFar();
  return {
    stdout: stdout.toString(),
    stderr: stderr.toString(),
    stdout_truncated: stdoutTruncated,
    stderr_truncated: stderrTruncated,
    exit_code: null,
    timed_out: false,
    duration_ms: Date.now() - job.startedAtMs,
    success: false,
    job_id: job.id,
    next: job.ring.end,
  };
}

function toReply(outcome: ExecutionResult | GuestError, asked: Asked) {
  if (outcome instanceof GuestError) return unstarted(notStarted(outcome, asked));

  const output = {
    stdout: outcome.stdout.toString(),
    stderr: outcome.stderr.toString(),
    stdout_truncated: outcome.stdoutTruncated,
    stderr_truncated: outcome.stderrTruncated,
    ...refusedField(asked.refused),
    ...asked.streamed,
  };
  if (outcome.timedOut) {
    throw errors.fail('S200', { timeoutMs: asked.effectiveMs, askedMs: asked.askedMs, output });
  }
  const { durationMs } = outcome;
  const exitCode = outcome.exitCode ?? KILLED;
  return { ...output, exit_code: exitCode, timed_out: false, duration_ms: durationMs, success: exitCode === 0 };
}

function whyNotStarted(error: unknown): GuestError {
  if (error instanceof GuestError) return error;
  throw error;
}

function unstarted({ stderr, exitCode }: ReturnType<typeof notStarted>) {
  return {
    stdout: '',
    stderr,
    stdout_truncated: false,
    stderr_truncated: false,
    exit_code: exitCode,
    timed_out: false,
    duration_ms: 0,
    success: false,
  };
}
