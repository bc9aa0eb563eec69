/**
 * shell::exec_bg: starts a command and answers at once with the id of its job.
 *
 * On the host it runs until it ends or is killed, whatever `timeout_ms` says. In a sandbox it has a timeout, because
 * nothing else can end it there.
 */
import { z } from 'zod';

import { Failure, type CallScope, type Log } from '#contract';
import { SpawnError, type OutputSoFar } from '#host';
import { timeoutOf, toCommand, type Command } from '../command.ts';
import { refuse } from '../errors.ts';
import { execRequest } from '../exec-request.ts';
import type { JobEnd, JobWork } from '../jobs.ts';
import { execInSandbox } from '../sandbox-exec.ts';
import { shell, type ShellContext } from '../worker.ts';

export const execBg = shell.defineFunction({
  id: 'shell::exec_bg',
  summary: 'Start an allowed program in the background and return its job id; shell::status shows its output.',
  details:
    'A host job is not bound by timeout_ms. Its id is the only key to its words and output. It ends with the worker, ' +
    'and is forgotten job_retention_secs after its end, or earlier when ended jobs hold too much output.',
  effect: 'execute',
  request: execRequest('ExecBgRequest'),
  response: z
    .object({ job_id: z.string(), argv: z.array(z.string()).describe('The words that run.') })
    .meta({ title: 'ExecBgResponse' }),
  errors: ['invocation_failed', 'S210', 'S211', 'S212', 'S215', 'S216'],
  examples: [{ command: 'ls', args: ['-la'] }],

  async handle(request, context, scope) {
    const command = await toCommand(request, context, scope);
    const timeoutMs = timeoutOf(request, context);
    const jobId = await context.jobs.start(command.argv, () =>
      command.kind === 'host' ? hostWork(command, context) : sandboxWork(command, timeoutMs, scope),
    );
    return { job_id: jobId, argv: [...command.argv] };
  },
});

async function hostWork({ spec }: Extract<Command, { kind: 'host' }>, { children }: ShellContext): Promise<JobWork> {
  try {
    const child = await children.start(spec);
    const done = child.done.then((result): JobEnd => ({
      ...result,
      status: result.exitCode === 0 ? 'finished' : 'failed',
    }));
    return { done, outputSoFar: () => child.outputSoFar(), kill: () => child.kill() };
  } catch (error) {
    if (!(error instanceof SpawnError)) throw error;
    throw refuse(`spawn: ${error.message}`, error);
  }
}

async function sandboxWork(
  command: Extract<Command, { kind: 'sandbox' }>,
  timeoutMs: number,
  { bus, log }: CallScope,
): Promise<JobWork> {
  const done = execInSandbox(bus, command, { timeoutMs }).then(
    ({ stdout, stderr, exitCode, timedOut, stdoutTruncated, stderrTruncated }): JobEnd => ({
      status: timedOut ? 'killed' : exitCode === 0 ? 'finished' : 'failed',
      exitCode,
      ...outputOf(stdout, stderr),
      stdoutTruncated,
      stderrTruncated,
    }),
    (error: unknown): JobEnd => ({ status: 'failed', exitCode: null, ...outputOf('', explain(error, log)) }),
  );
  return { done, outputSoFar: () => outputOf('', '') };
}

/** The call was answered when the job started, so nobody but the log can be told of a bug any more. */
function explain(error: unknown, log: Log): string {
  if (error instanceof Failure) return `${error.code}: ${error.message}`;
  log.error('a job in a sandbox failed in a way nobody knows', {
    stack: error instanceof Error ? error.stack : String(error),
  });
  return 'internal error; the log tells more';
}

function outputOf(stdout: string, stderr: string): OutputSoFar {
  return {
    stdout: Buffer.from(stdout),
    stderr: Buffer.from(stderr),
    stdoutTruncated: false,
    stderrTruncated: false,
  };
}
