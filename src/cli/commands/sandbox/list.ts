/** workcell sandbox list: lists the running sandboxes. */
import { z } from 'zod';

import type { Command } from '../../command.ts';
import { addressOptions } from '../../engine-address.ts';
import { EXIT } from '../../exit-codes.ts';
import { printReply } from '../../print.ts';
import { duration } from '../../render.ts';
import { reportingFailures } from '../../sandbox/sandbox-command.ts';

/** Two groups of a UUID. */
const SHORT_ID = 13;

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
  summary: 'List the running sandboxes.',
  options: { json: { type: 'boolean', description: 'Print the reply as JSON.' }, ...addressOptions },
  maxWords: 0,

  run({ options }) {
    return reportingFailures(options, async (bus) => {
      const reply = await bus.call('sandbox::list', {});
      const { sandboxes } = Reply.parse(reply);
      const head = ['SANDBOX_ID', 'IMAGE', 'AGE', 'RUNNING', 'MEMORY_MB', 'ISOLATION', 'NAME'];
      printReply(options, reply, () => ({ head, rows: sandboxes.map(toRow) }));
      return EXIT.ok;
    });
  },
};

function toRow(one: z.output<typeof Reply>['sandboxes'][number]): string[] {
  const memory = one.usage === undefined ? '' : String(Math.ceil(one.usage.memory_bytes / 2 ** 20));
  return [
    shortOnTerminal(one.sandbox_id),
    one.image,
    duration(one.age_secs * 1000),
    String(one.exec_in_flight ?? ''),
    memory,
    one.isolation ?? '',
    one.name ?? '',
  ];
}

/** The beginning names a sandbox as well as the whole id, and leaves room for the rest of the line. */
function shortOnTerminal(id: string): string {
  return process.stdout.isTTY ? id.slice(0, SHORT_ID) : id;
}
