/**
 * A command in a sandbox, through sandbox::exec on the bus.
 *
 * It tells a timeout as a failure; here it is an answer, as on the host.
 */
import { z } from 'zod';

import { Failure, type Bus } from '#contract';
import type { Command } from './command.ts';
import type { ShellCode } from './errors.ts';
import { forwardToSandbox, readReply } from './target.ts';

/** The codes of sandbox::exec that are passed on. */
export const SANDBOX_EXEC_CODES = [
  'S001',
  'S002',
  'S003',
  'S004',
  'S100',
  'S101',
  'S102',
  'S200',
  'S210',
  'S216',
  'S300',
  'S400',
] as const satisfies ShellCode[];

/** How much longer than the command the answer may take before the sandbox counts as silent. */
const ANSWER_GRACE_MS = 10_000;

export const egressRefused = z
  .array(z.object({ host: z.string(), reason: z.string().describe('Why, and what to ask for instead.') }))
  .optional()
  .describe('In a sandbox: what it was refused to reach while this ran; left out when nothing was.');

const Reply = z.object({
  stdout: z.string(),
  stderr: z.string(),
  exit_code: z.int().nullish(),
  duration_ms: z.number().min(0),
  timed_out: z.boolean(),
  stdout_truncated: z.boolean().default(false),
  stderr_truncated: z.boolean().default(false),
  egress_refused: egressRefused,
});

export interface SandboxResult {
  stdout: string;
  stderr: string;
  exitCode: number | null;
  durationMs: number;
  timedOut: boolean;
  stdoutTruncated: boolean;
  stderrTruncated: boolean;
  egressRefused?: z.output<typeof egressRefused>;
}

export async function execInSandbox(
  bus: Bus,
  { argv: [cmd, ...args], sandboxId }: Extract<Command, { kind: 'sandbox' }>,
  { timeoutMs, signal }: { timeoutMs: number; signal?: AbortSignal },
): Promise<SandboxResult> {
  const payload = { sandbox_id: sandboxId, cmd, args, timeout_ms: timeoutMs };
  const call = { functionId: 'sandbox::exec', payload, keeps: SANDBOX_EXEC_CODES };
  try {
    const reply = await forwardToSandbox(bus, call, { timeoutMs: timeoutMs + ANSWER_GRACE_MS, signal });
    const { stdout, stderr, exit_code = null, duration_ms, timed_out, ...cut } = readReply(Reply, reply);
    return {
      stdout,
      stderr,
      exitCode: exit_code,
      durationMs: Math.round(duration_ms),
      timedOut: timed_out,
      stdoutTruncated: cut.stdout_truncated,
      stderrTruncated: cut.stderr_truncated,
      egressRefused: cut.egress_refused,
    };
  } catch (error) {
    if (!isTimeout(error)) throw error;
    const nothing = { stdout: '', stderr: '', stdoutTruncated: false, stderrTruncated: false };
    return { ...nothing, exitCode: null, durationMs: timeoutMs, timedOut: true };
  }
}

function isTimeout(error: unknown): boolean {
  return error instanceof Failure && (error.code === 'S200' || error.message.includes('timed out'));
}
