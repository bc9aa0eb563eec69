/**
 * shell::exec: runs one command to its end and returns its output.
 *
 * A command that fails is an answer, not a failure. When the caller goes away the command is killed.
 */
import { z } from 'zod';

import { wire } from '#contract';
import type { ExecutionResult, Process } from '#host';
import { startCommand, timeoutOf, toCommand } from '../command.ts';
import { refuse } from '../errors.ts';
import { execRequest } from '../exec-request.ts';
import { egressRefused, SANDBOX_EXEC_CODES, SandboxProcess } from '../sandbox-process.ts';
import { shell } from '../worker.ts';

/** The command's own timeout is the deadline; this only has to be longer. */
const NO_DEADLINE_MS = 2_147_483_647;

const Response = z
  .object({
    exit_code: wire.int32().nullish().describe('null when the command timed out or a signal ended it.'),
    stdout: z.string().describe('The first max_output_bytes bytes; invalid UTF-8 becomes U+FFFD.'),
    stderr: z.string().describe('The same for standard error.'),
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
    'killed with it. On the host this is not an isolation boundary; target a sandbox for code you do not trust.',
  effect: 'execute',
  permissions: ['process.run'],
  request: execRequest('ExecRequest'),
  response: Response,
  errors: ['invocation_failed', 'S211', 'S212', 'S215', ...SANDBOX_EXEC_CODES],
  examples: [{ command: 'echo', args: ['hello'] }, { command: 'ls -la' }],
  deadlineMs: NO_DEADLINE_MS,

  async handle(request, context, scope) {
    const command = await toCommand(request, context, scope);
    const { foreground } = context;
    if (foreground.count >= foreground.max) {
      throw refuse(`max concurrent commands (${foreground.max}) reached, try again when some have ended`);
    }

    foreground.count += 1;
    try {
      const limits = { timeoutMs: timeoutOf(request, context), signal: scope.signal };
      const execution = await startCommand(command, limits, context, scope.bus);
      return toResponse(await execution.done, refusedBy(execution.process));
    } finally {
      foreground.count -= 1;
    }
  },
});

function refusedBy(process: Process): Pick<z.input<typeof Response>, 'egress_refused'> {
  return process instanceof SandboxProcess && process.refused ? { egress_refused: process.refused } : {};
}

function toResponse(
  result: ExecutionResult,
  refused: Pick<z.input<typeof Response>, 'egress_refused'>,
): z.input<typeof Response> {
  return {
    exit_code: result.exitCode,
    stdout: result.stdout.toString(),
    stderr: result.stderr.toString(),
    duration_ms: Math.round(result.durationMs),
    timed_out: result.timedOut,
    stdout_truncated: result.stdoutTruncated,
    stderr_truncated: result.stderrTruncated,
    ...refused,
  };
}
