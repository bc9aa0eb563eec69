/**
 * shell::exec: one command to its end, with its output.
 *
 * A command that fails is an answer, not a failure. When the caller goes away the command is killed.
 */
import { z } from 'zod';

import { wire, type CallScope } from '#contract';
import type { ChildResult, ChildSpec } from '#host';
import { timeoutOf, toCommand } from '../command.ts';
import { refuse } from '../errors.ts';
import { execRequest } from '../exec-request.ts';
import { egressRefused, execInSandbox, SANDBOX_EXEC_CODES } from '../sandbox-exec.ts';
import { shell, type ShellContext } from '../worker.ts';

/** The command's own timeout is the deadline; this only has to be longer than any. */
const NO_DEADLINE_MS = 2_147_483_647;

const Response = z
  .object({
    exit_code: wire.int32().nullish().describe('null when the command timed out or a signal ended it.'),
    stdout: z.string().describe('The first max_output_bytes bytes; invalid UTF-8 becomes U+FFFD.'),
    stderr: z.string().describe('The same of standard error.'),
    duration_ms: wire.uint64(),
    timed_out: z.boolean(),
    stdout_truncated: z.boolean().describe('Whether there was more output than is kept.'),
    stderr_truncated: z.boolean(),
    egress_refused: egressRefused,
  })
  .meta({ title: 'ExecResponse' });

export const exec = shell.defineFunction({
  id: 'shell::exec',
  summary: 'Run an allowed program to its end and return its output. Program in `command`, arguments in `args`.',
  details:
    'There is no shell in between: nothing is expanded, piped or redirected. Whatever the command left running is ' +
    'killed with it. On the host this is no isolation boundary; target a sandbox for code you do not trust.',
  effect: 'execute',
  request: execRequest('ExecRequest'),
  response: Response,
  errors: ['invocation_failed', 'S211', 'S212', 'S215', ...SANDBOX_EXEC_CODES],
  examples: [{ command: 'echo', args: ['hello'] }, { command: 'ls -la' }],
  deadlineMs: NO_DEADLINE_MS,

  async handle(request, context, scope) {
    const command = await toCommand(request, context, scope);
    const timeoutMs = timeoutOf(request, context);
    if (command.kind === 'host') return onHost({ ...command.spec, timeoutMs }, context, scope);

    const result = await execInSandbox(scope.bus, command, { timeoutMs, signal: scope.signal });
    return {
      exit_code: result.exitCode,
      stdout: result.stdout,
      stderr: result.stderr,
      duration_ms: result.durationMs,
      timed_out: result.timedOut,
      stdout_truncated: result.stdoutTruncated,
      stderr_truncated: result.stderrTruncated,
      ...(result.egressRefused && { egress_refused: result.egressRefused }),
    };
  },
});

async function onHost(spec: ChildSpec, { children, foreground }: ShellContext, { signal }: CallScope) {
  if (foreground.count >= foreground.max) {
    throw refuse(`max concurrent commands (${foreground.max}) reached, try again when some have ended`);
  }

  foreground.count += 1;
  try {
    const child = await children.start(spec);
    const stop = () => void child.kill();
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    return toResponse(await child.done);
  } finally {
    foreground.count -= 1;
  }
}

function toResponse(result: ChildResult): z.input<typeof Response> {
  return {
    exit_code: result.exitCode,
    stdout: result.stdout.toString(),
    stderr: result.stderr.toString(),
    duration_ms: Math.round(result.durationMs),
    timed_out: result.timedOut,
    stdout_truncated: result.stdoutTruncated,
    stderr_truncated: result.stderrTruncated,
  };
}
