/** workcell change list: lists the open changes. */
import { z } from 'zod';

import type { Command } from '../../command.ts';
import { addressOptions, withEngine } from '../../engine-address.ts';
import { EXIT } from '../../exit-codes.ts';
import { printReply } from '../../print.ts';
import { duration } from '../../render.ts';
import { CLI } from './call.ts';

const Reply = z.object({
  changes: z.array(
    z.object({
      change: z.string(),
      note: z.string(),
      began_at_ms: z.number(),
      files_changed: z.number(),
      bytes: z.number(),
      busy_commands: z.number(),
      state: z.string(),
      is_stale: z.boolean(),
      is_over_limit: z.boolean().default(false),
    }),
  ),
});

function stateOf({ state, is_stale: isStale, is_over_limit: isOverLimit }: z.output<typeof Reply>['changes'][number]) {
  return [state, ...(isStale ? ['stale'] : []), ...(isOverLimit ? ['over max_bytes'] : [])].join(', ');
}

export const changeList: Command = {
  name: 'change list',
  summary: 'List the open changes over the workspace.',
  options: { json: { type: 'boolean', description: 'Print the reply as JSON.' }, ...addressOptions },
  maxWords: 0,

  async run({ options }) {
    const reply = await withEngine(options, (bus) => bus.call('change::list', {}, CLI));
    const { changes } = Reply.parse(reply);
    printReply(options, reply, () => ({
      head: ['CHANGE', 'AGE', 'ENTRIES', 'BYTES', 'COMMANDS', 'STATE', 'NOTE'],
      rows: changes.map((one) => [
        ...[one.change, duration(Date.now() - one.began_at_ms), `${one.files_changed}`, `${one.bytes}`],
        ...[`${one.busy_commands}`, stateOf(one), one.note],
      ]),
    }));
    return EXIT.ok;
  },
};
