/**
 * shell::exec_bg: starts a command and returns the id of its job at once.
 *
 * On the host it runs until it ends or is killed, whatever `timeout_ms` says. A sandbox gives every command a timeout.
 */
import { z } from 'zod';

import { SpawnError } from '#host';
import { startCommand, timeoutOf, toCommand } from '../command.ts';
import { refuse } from '../errors.ts';
import { execRequest } from '../exec-request.ts';
import { shell } from '../worker.ts';

export const execBg = shell.defineFunction({
  id: 'shell::exec_bg',
  summary: 'Start an allowed program in the background and return its job id; shell::status shows its output.',
  details:
    'A host job is not bound by timeout_ms. Its id is the only key to its words and output. It ends with the worker, ' +
    'and is forgotten job_retention_secs after its end, or earlier when ended jobs hold too much output.',
  effect: 'execute',
  permissions: ['process.run'],
  request: execRequest('ExecBgRequest'),
  response: z
    .object({ job_id: z.string(), argv: z.array(z.string()).describe('Program and arguments.') })
    .meta({ title: 'ExecBgResponse' }),
  errors: ['invocation_failed', 'S210', 'S211', 'S212', 'S215', 'S216'],
  examples: [{ command: 'ls', args: ['-la'] }],

  async handle(request, context, scope) {
    const command = await toCommand(request, context, scope);
    const timeoutMs = command.kind === 'host' ? undefined : timeoutOf(request, context);
    const jobId = await context.jobs.start(command.argv, command.kind, async () => {
      try {
        return await startCommand(command, { timeoutMs }, context, scope.bus);
      } catch (error) {
        if (!(error instanceof SpawnError)) throw error;
        throw refuse(`spawn: ${error.message}`, error);
      }
    });
    return { job_id: jobId, argv: [...command.argv] };
  },
});
