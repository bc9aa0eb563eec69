/** workcell jobs status: prints one background job with its output so far. */
import { z } from 'zod';

import type { Command } from '../../command.ts';
import { addressOptions, withEngine } from '../../engine-address.ts';
import { EXIT } from '../../exit-codes.ts';
import { printJson, printText } from '../../print.ts';

const Reply = z.object({
  job: z.object({
    status: z.string(),
    argv: z.array(z.string()),
    exit_code: z.int().nullish(),
    stdout: z.string(),
    stderr: z.string(),
  }),
});

export const jobsStatus: Command = {
  name: 'jobs status',
  summary: 'Show a background job: its output so far on standard output, its state on standard error.',
  usage: '<job-id>',
  options: { json: { type: 'boolean', description: 'Print the reply as JSON.' }, ...addressOptions },
  minWords: 1,
  maxWords: 1,

  async run({ words: [jobId], options }) {
    const reply = await withEngine(options, (bus) => bus.call('shell::status', { job_id: jobId }));
    const { job } = Reply.parse(reply);
    if (options.json === true) {
      printJson(reply);
      return EXIT.ok;
    }
    printText(job.stdout);
    printText(job.stderr, process.stderr);
    const exit = job.exit_code == null ? '' : ` with exit code ${job.exit_code}`;
    printText(`workcell: ${job.argv.join(' ')}: ${job.status}${exit}\n`, process.stderr);
    return EXIT.ok;
  },
};
