/** workcell jobs attach: connects this terminal to a background job. */
import { z } from 'zod';

import type { Connection } from '#client';
import { CallError } from '#contract';
import { ChannelRefSchema } from '#protocol';
import type { Command } from '../../command.ts';
import { addressOptions, withEngine } from '../../engine-address.ts';
import { EXIT } from '../../exit-codes.ts';
import { printing, printItems } from '../../live-output.ts';
import { typeInto } from '../../typed-input.ts';

const Attached = z.object({ reader: ChannelRefSchema, writer: ChannelRefSchema.optional(), next: z.int() });
const Status = z.object({ job: z.object({ terminal: z.boolean().optional() }) });

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
    withEngine(options, async (bus) => {
      const { job } = Status.parse(await bus.call('shell::status', { job_id: jobId }));
      const isTerminal = job.terminal === true;
      const { reader, writer } = await attached(bus, jobId!);
      const items = await bus.openReader(reader);
      const typing = writer && typeInto(await bus.openWriter(writer), { isTerminal, leave: () => items.cancel() });
      try {
        const exit = await printItems(items, printing({ isRaw: isTerminal }));
        return exit ? (exit.exit_code ?? EXIT.failed) : EXIT.ok;
      } finally {
        typing?.[Symbol.dispose]();
      }
    }),
};

/** With input where the job has one. */
async function attached(bus: Connection, jobId: string): Promise<z.output<typeof Attached>> {
  try {
    return Attached.parse(await bus.call('shell::attach', { job_id: jobId, input: true }));
  } catch (error) {
    if (!(error instanceof CallError) || error.code !== 'S221') throw error;
    return Attached.parse(await bus.call('shell::attach', { job_id: jobId }));
  }
}
