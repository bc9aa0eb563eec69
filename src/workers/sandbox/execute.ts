/**
 * Runs one command in a sandbox, from the request to the reply.
 *
 * A command that could not be started is reported as a shell does, by exit code 126 or 127; only a timeout is a
 * failure.
 */
import { z } from 'zod';

import { wire, type CallScope } from '#contract';
import { Execution, type ExecutionResult } from '#host';
import { GuestError } from '#sandbox/guest';
import { isBase64 } from './base64.ts';
import { requireSendable } from './command.ts';
import type { RefusedPlace } from './egress/index.ts';
import { mergeEnv, type Env } from './environment.ts';
import { errors } from './errors.ts';
import { watchLimits } from './live/limit-watch.ts';
import type { LiveSandbox } from './live/live-sandbox.ts';
import type { SandboxConfig } from './config.ts';

/** Per stream; the rest is dropped. */
const MAX_OUTPUT_BYTES = 1_048_576;
const DEFAULT_TIMEOUT_MS = 300_000;

/** A shell's exit code after SIGKILL; here only a caller that went away causes it. */
const KILLED = 137;

/** For a command with a timeout of 0, which is not started. */
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
  stdout: z.string().describe('What it wrote, invalid UTF-8 replaced; the first MiB.'),
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
    .describe('The sandbox limit that ended it, if known; stderr ends with what to do.'),
  egress_refused: z
    .array(z.object({ host: z.string(), reason: z.string().describe('Why, and what to use instead.') }))
    .optional()
    .describe('Hosts that were refused while this ran, at most ten; absent if there were none.'),
};

export interface WantedCommand {
  argv: string[];
  env: Env;
  stdin: string | null;
  timeoutMs: number | null;
  workdir: string | null;
}

export async function execute(
  sandbox: LiveSandbox,
  { argv, env, stdin, timeoutMs, workdir }: WantedCommand,
  config: SandboxConfig,
  { signal }: Pick<CallScope, 'signal'>,
) {
  const { facts, agent } = sandbox;
  const merged = mergeEnv(facts.env, env);
  requireSendable([...argv, ...merged.flat()], 'the command with its environment');
  const askedMs = timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const effectiveMs = Math.min(askedMs, config.max_exec_timeout_ms);
  const limitHit = watchLimits(sandbox);
  const refusals = sandbox.egress?.log.watchRefusals();
  const input = decodeStdin(stdin);
  const command = {
    argv,
    env: merged,
    cwd: workdir ?? facts.workdir,
    uid: facts.user.uid,
    gid: facts.user.gid,
    hasInput: input !== undefined,
    maxOutputBytes: MAX_OUTPUT_BYTES,
  };
  const limits = { stdin: input, maxOutputBytes: MAX_OUTPUT_BYTES, timeoutMs: effectiveMs, signal };
  let refused: RefusedPlace[] = [];
  const running = sandbox.executing(async () =>
    effectiveMs === 0 ? NO_TIME : new Execution(await agent.start(command, { signal }), limits).done,
  );
  const outcome = await running
    .catch((error: unknown) => whyNotStarted(error))
    .finally(() => (refused = refusals?.() ?? []));
  const reply = toReply(outcome, { argv, workdir, askedMs, effectiveMs, refused });
  const hit = reply.success ? undefined : await limitHit(reply.exit_code);
  return hit ? { ...reply, stderr: reply.stderr + hit.line, ...(hit.killedBy && { killed_by: hit.killedBy }) } : reply;
}

interface Asked {
  argv: string[];
  workdir: string | null;
  askedMs: number;
  /** Capped by the configuration. */
  effectiveMs: number;
  refused: RefusedPlace[];
}

function toReply(outcome: ExecutionResult | GuestError, asked: Asked) {
  if (outcome instanceof GuestError) return notStarted(outcome, asked);

  const output = {
    stdout: outcome.stdout.toString(),
    stderr: outcome.stderr.toString(),
    stdout_truncated: outcome.stdoutTruncated,
    stderr_truncated: outcome.stderrTruncated,
    ...(asked.refused.length > 0 && { egress_refused: asked.refused }),
  };
  if (outcome.timedOut) {
    throw errors.fail('S200', { timeoutMs: asked.effectiveMs, askedMs: asked.askedMs, output });
  }
  const { durationMs } = outcome;
  const exitCode = outcome.exitCode ?? KILLED;
  return { ...output, exit_code: exitCode, timed_out: false, duration_ms: durationMs, success: exitCode === 0 };
}

/** A shell's wording and exit code. */
const WHY_NOT: Record<string, { words: string; exitCode: number }> = {
  ENOENT: { words: 'not found', exitCode: 127 },
  ENOTDIR: { words: 'not found', exitCode: 127 },
  EACCES: { words: 'permission denied', exitCode: 126 },
  EISDIR: { words: 'permission denied', exitCode: 126 },
  E2BIG: { words: 'the words and the environment are more than a program can be given', exitCode: 126 },
  EMFILE: { words: 'the sandbox has too many open files', exitCode: 126 },
  ENFILE: { words: 'the sandbox has too many open files', exitCode: 126 },
  EAGAIN: { words: 'the sandbox has too many processes', exitCode: 126 },
  ENOMEM: { words: 'the sandbox has no memory left', exitCode: 126 },
  ENOEXEC: { words: 'not a program: a script starts with #! and its interpreter', exitCode: 126 },
};

function whyNotStarted(error: unknown): GuestError {
  if (error instanceof GuestError) return error;
  throw error;
}

function notStarted({ code: errno, about }: GuestError, { argv, workdir }: Pick<Asked, 'argv' | 'workdir'>) {
  if (about === 'workdir') {
    throw errors.fail('S001', {
      problem: `workdir ${workdir ?? ''} cannot be entered in the sandbox (${errno})`,
      fix: { workdir: '/' },
    });
  }
  const why = WHY_NOT[errno];
  if (!why) throw errors.fail('S300', { problem: `${argv[0]} could not be started (${errno})` });
  return {
    stdout: '',
    stderr: `exec: ${argv[0]}: ${why.words}\n`,
    stdout_truncated: false,
    stderr_truncated: false,
    exit_code: why.exitCode,
    timed_out: false,
    duration_ms: 0,
    success: false,
  };
}

export function decodeStdin(stdin: string | null): Buffer | undefined {
  if (stdin === null || stdin === '') return undefined;
  if (!isBase64(stdin)) throw errors.fail('S001', { problem: 'stdin must be base64' });
  return Buffer.from(stdin, 'base64');
}
