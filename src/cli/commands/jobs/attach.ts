/** workcell jobs attach: connects this terminal to a background job. */
import { attachJob } from '../../attach-job.ts';
import type { Command } from '../../command.ts';
import { addressOptions, withEngine } from '../../engine-address.ts';
import { EXIT } from '../../exit-codes.ts';

export const jobsAttach: Command = {
  name: 'jobs attach',
  summary: 'Connect this terminal to a background job: its output from the beginning, and its input if it has one.',
  usage: '<job-id>',
  details:
    'Ctrl-P Ctrl-Q leaves the job running. Exits with the code of the job, 1 when a signal ended it.\n' +
    'A job that was started with `terminal` gets every key, and the size of this terminal.',
  options: addressOptions,
  examples: ['workcell jobs attach job-6f1c…'],
  minWords: 1,
  maxWords: 1,

  run: ({ words: [jobId], options }) =>
    withEngine(options, async (bus) => (await attachJob(bus, { worker: 'shell', jobId: jobId! })) ?? EXIT.ok),
};
