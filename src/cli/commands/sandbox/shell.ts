/**
 * workcell sandbox shell: a shell, or another program, in a terminal of a sandbox, connected to this one.
 *
 * The shell is a job: `--job ID` attaches to it again after a detach.
 */
import { z } from 'zod';

import { attachJob } from '../../attach-job.ts';
import { UsageError, valueOption, type Command } from '../../command.ts';
import { addressOptions, text } from '../../engine-address.ts';
import { EXIT } from '../../exit-codes.ts';
import { readPairs, reportingFailures } from '../../sandbox/sandbox-command.ts';
import { envOption } from '../../sandbox/sandbox-options.ts';
import { findSandboxes } from '../../sandbox/find-sandboxes.ts';

const Started = z.object({ job_id: z.string() });

/** The better one of those that the image has. */
const SHELL = ['sh', '-c', 'if command -v bash >/dev/null 2>&1; then exec bash; else exec sh; fi'];
/** Size if the terminal reports none. */
const SIZE = { cols: 80, rows: 24 };

export const sandboxShell: Command = {
  name: 'sandbox shell',
  summary: 'Open a shell in a sandbox, in a terminal of its own that this one is connected to.',
  usage: '<sandbox> [options] [-- <program> [argument…]]',
  details:
    'A sandbox is named by its id, the beginning of its id, or its name. Ctrl-P Ctrl-Q leaves the shell running; --job\n' +
    'comes back to it. Exits with the code of the shell, 1 when a signal ended it.',
  options: {
    job: valueOption('JOB', 'Connect to this job instead of starting a shell.'),
    ...envOption,
    workdir: valueOption('DIR', 'Working directory.'),
    ...addressOptions,
  },
  examples: ['workcell sandbox shell lab', 'workcell sandbox shell lab -- python3'],
  minWords: 1,
  maxWords: 1,

  run({ words: [word], rest, options }) {
    const { stdin, stdout } = process;
    if (!stdin.isTTY) throw new UsageError('sandbox shell needs a terminal; sandbox exec --stdin runs a script in one');
    return reportingFailures(options, async (bus) => {
      const [sandbox_id] = await findSandboxes(bus, [word!]);
      const request = {
        ...{
          sandbox_id,
          argv: rest.length > 0 ? rest : SHELL,
          env: readPairs(options.env),
          workdir: text(options.workdir),
        },
        terminal: stdout.isTTY ? { cols: stdout.columns || SIZE.cols, rows: stdout.rows || SIZE.rows } : SIZE,
      };
      const jobId = text(options.job) ?? Started.parse(await bus.call('sandbox::exec_bg', request)).job_id;
      const exitCode = await attachJob(bus, { worker: 'sandbox', jobId });
      if (exitCode === undefined)
        process.stderr.write(`\nworkcell: still running; workcell sandbox shell ${word} --job ${jobId}\n`);
      return exitCode ?? EXIT.ok;
    });
  },
};
