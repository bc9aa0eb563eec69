/** workcell change discard: removes a change with everything in it. */
import { z } from 'zod';

import type { Command } from '../../command.ts';
import { addressOptions, withEngine } from '../../engine-address.ts';
import { EXIT } from '../../exit-codes.ts';
import { printReply } from '../../print.ts';
import { CLI } from './call.ts';

const Reply = z.object({ discarded: z.string(), files: z.number(), bytes: z.number() });

export const changeDiscard: Command = {
  name: 'change discard',
  summary: 'Discard a change with everything in it; its commands are ended first.',
  usage: 'CHANGE',
  options: { json: { type: 'boolean', description: 'Print the reply as JSON.' }, ...addressOptions },
  minWords: 1,
  maxWords: 1,

  async run({ words: [change], options }) {
    const reply = await withEngine(options, (bus) => bus.call('change::discard', { change }, CLI));
    printReply(options, reply, () => {
      const { discarded, files, bytes } = Reply.parse(reply);
      return `discarded ${discarded}: ${files} entries, ${bytes} bytes\n`;
    });
    return EXIT.ok;
  },
};
