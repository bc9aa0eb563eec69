/** workcell jobs logs: prints the last output of a background job, and with --follow new output until it ends. */
import { z } from 'zod';

import { ChannelRefSchema } from '#protocol';
import type { Command } from '../../command.ts';
import { addressOptions, withEngine } from '../../engine-address.ts';
import { EXIT } from '../../exit-codes.ts';
import { printing, printItems } from '../../live-output.ts';

const Attached = z.object({ reader: ChannelRefSchema, next: z.int() });
const Output = z.object({
  from: z.int(),
  next: z.int(),
  lost: z.int(),
  text: z.string(),
  pieces: z.array(z.object({ stream: z.enum(['stdout', 'stderr']), text: z.string() })).optional(),
});
const PAGE_BYTES = 1_048_576;

export const jobsLogs: Command = {
  name: 'jobs logs',
  summary: 'Print the last output of a background job; with --follow, also new output until it ends.',
  usage: '<job-id>',
  options: { follow: { type: 'boolean', short: 'f', description: 'Wait for more until it ends.' }, ...addressOptions },
  minWords: 1,
  maxWords: 1,

  run: ({ words: [jobId], options }) =>
    withEngine(options, async (bus) => {
      if (options.follow === true) {
        const { reader } = Attached.parse(await bus.call('shell::attach', { job_id: jobId }));
        await printItems(await bus.openReader(reader), printing());
        return EXIT.ok;
      }
      const print = printing();
      for (let since = 0; ;) {
        const page = Output.parse(await bus.call('shell::output', { job_id: jobId, since, max_bytes: PAGE_BYTES }));
        if (page.lost > 0) process.stderr.write(`workcell: the first ${page.lost} bytes are no longer kept\n`);
        for (const { stream, text } of page.pieces ?? [{ stream: 'stdout' as const, text: page.text }]) {
          await print[stream](Buffer.from(text));
        }
        if (page.next === page.from) return EXIT.ok;
        since = page.next;
      }
    }),
};
