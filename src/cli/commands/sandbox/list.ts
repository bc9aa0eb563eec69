/** workcell sandbox list: lists the running sandboxes. */
import { z } from 'zod';

import type { Command } from '../../command.ts';
import { addressOptions } from '../../engine-address.ts';
import { EXIT } from '../../exit-codes.ts';
import { printReply } from '../../print.ts';
import { table } from '../../render.ts';
import { tellingFailures } from '../../sandbox-command.ts';

const Reply = z.object({
  sandboxes: z.array(
    z.object({
      sandbox_id: z.string(),
      image: z.string(),
      age_secs: z.number(),
      name: z.string().nullish(),
      isolation: z.string().optional(),
      exec_in_flight: z.number().optional(),
      usage: z.object({ memory_bytes: z.number() }).optional(),
    }),
  ),
});

export const sandboxList: Command = {
  name: 'sandbox list',
  aliases: ['worker sandbox list'],
  summary: 'List the running sandboxes.',
  options: { json: { type: 'boolean', description: 'Print the reply as JSON.' }, ...addressOptions },
  maxWords: 0,

  run({ options }) {
    return tellingFailures(options, async (bus) => {
      const reply = await bus.call('sandbox::list', {});
      const { sandboxes } = Reply.parse(reply);
      const head = ['SANDBOX_ID', 'IMAGE', 'AGE_SECS', 'RUNNING', 'MEMORY_MB', 'ISOLATION', 'NAME'];
      printReply(options, reply, () => table(head, sandboxes.map(toRow)));
      return EXIT.ok;
    });
  },
};

function toRow(one: z.output<typeof Reply>['sandboxes'][number]): string[] {
  const memory = one.usage === undefined ? '' : String(Math.ceil(one.usage.memory_bytes / 2 ** 20));
  return [
    one.sandbox_id,
    one.image,
    String(one.age_secs),
    String(one.exec_in_flight ?? ''),
    memory,
    one.isolation ?? '',
    one.name ?? '',
  ];
}
