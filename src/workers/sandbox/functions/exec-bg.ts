/** sandbox::exec_bg: starts a command in a sandbox and returns the id of its job once it runs. */
import { z } from 'zod';

import { wire } from '#contract';
import { ringBytes, TerminalSize } from '#job-functions';
import { commandFields, readCommand } from '../commands/command-fields.ts';
import { startJob } from '../commands/start-job.ts';
import { sandbox } from '../worker.ts';

export const execBg = sandbox.defineFunction({
  id: 'sandbox::exec_bg',
  summary:
    'Start a command in a sandbox in the background and return its job id; sandbox::output reads its output and waits.',
  details:
    'Takes the shapes of sandbox::exec. The job ends with its sandbox, which is stopped when for idle_timeout_secs the job ' +
    'prints nothing and no call is about it or the sandbox. Its id is the only key to its words and output; it is kept ' +
    'job_retention_secs after its end. Processes that it left behind run until they are killed.',
  effect: 'execute',
  permissions: ['sandbox.run'],
  subject: { program: 'cmd', opaque: ['argv'] },
  request: z
    .object({
      ...commandFields,
      timeout_ms: wire
        .uint64()
        .nullish()
        .describe('Milliseconds after which it is killed, at most max_exec_timeout_ms. Default never.'),
      input: z.boolean().nullish().describe('Keep its standard input open for sandbox::input and sandbox::attach.'),
      terminal: TerminalSize.nullish().describe(
        'Run it in a terminal of this size instead of pipes; implies `input`, and both streams are one.',
      ),
      ring_bytes: ringBytes,
    })
    .meta({ title: 'ExecBgRequest' }),
  response: z
    .object({ job_id: z.string(), argv: z.array(z.string()).describe('Program and arguments.') })
    .meta({ title: 'ExecBgResponse' }),
  reads: { line: ['cmd', 'args', 'argv'] },
  errors: ['S001', 'S002', 'S004', 'S219', 'S222', 'S300', 'S400'],
  examples: [],

  async handle(request, { config, sandboxes, live: { jobs } }, scope) {
    const { input, terminal, ring_bytes, timeout_ms } = request;
    const wanted = {
      ...readCommand(request, scope),
      hasInput: input === true,
      terminal: terminal ?? undefined,
      ringBytes: ring_bytes ?? undefined,
      timeoutMs: timeout_ms == null ? undefined : Math.min(timeout_ms, config.max_exec_timeout_ms),
    };
    const job = await startJob(sandboxes.find(request.sandbox_id), wanted, { jobs, scope });
    return { job_id: job.id, argv: wanted.argv };
  },
});
