/** sandbox::exec: runs one command in a sandbox and waits for it. */
import { z } from 'zod';

import { COMMAND_NOTES, wire } from '#contract';
import { liveAnswer, liveFields, OutputEvent } from '#job-functions';
import { commandFields, readCommand } from '../commands/command-fields.ts';
import { execute, replyFields } from '../commands/execute.ts';
import { LONG_CALL_MS } from '../long-deadline.ts';
import { sandbox } from '../worker.ts';

export const exec = sandbox.defineFunction({
  id: 'sandbox::exec',
  summary: 'Run a command in a sandbox and return its output and exit code.',
  details:
    'Three shapes: cmd as a line ("node -v", split at blanks, quotes as in a shell, nothing expanded), cmd with args, or ' +
    'argv. For pipes and variables run ["sh", "-c", "…"]. The reply comes when the command itself ends; processes in ' +
    'the background keep running. Callers that take events get the output as it comes.',
  effect: 'execute',
  permissions: ['sandbox.run'],
  subject: { program: 'cmd', opaque: ['argv'] },
  request: z
    .object({
      ...commandFields,
      timeout_ms: wire
        .uint64()
        .nullable()
        .default(null)
        .describe('Timeout in milliseconds; then the command is killed and the call fails with S200. Default 300000.'),
      ...liveFields({ cap: 'max_exec_timeout_ms', limit: 'the default of timeout_ms' }),
    })
    .meta({ title: 'ExecRequest' }),
  response: z.object({ ...replyFields, ...liveAnswer }).meta({ title: 'ExecResponse' }),
  events: OutputEvent,
  reads: { line: ['cmd', 'args', 'argv'], notes: [{ field: 'job_id', says: 'continues' }, ...COMMAND_NOTES] },
  errors: ['S001', 'S002', 'S003', 'S004', 'S200', 'S210', 'S300', 'S400'],
  examples: [],
  deadlineMs: LONG_CALL_MS,

  async handle(request, context, scope) {
    const wanted = readCommand(request, scope);
    const { timeout_ms: timeoutMs, output, background_after_ms: backgroundAfterMs } = request;
    const live = { output, backgroundAfterMs: backgroundAfterMs ?? undefined };
    return execute(context.sandboxes.find(request.sandbox_id), { ...wanted, timeoutMs, ...live }, context, scope);
  },
});
