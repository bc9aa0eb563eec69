/** workcell change begin: begins a change over the workspace. */
import { z } from 'zod';

import type { Command } from '../../command.ts';
import { addressOptions, text, withEngine } from '../../engine-address.ts';
import { EXIT } from '../../exit-codes.ts';
import { printReply } from '../../print.ts';
import { CLI } from './call.ts';

const Reply = z.object({ change: z.string() });

export const changeBegin: Command = {
  name: 'change begin',
  summary: 'Begin a change: a private layer over the workspace, for files and commands.',
  usage: '[NAME]',
  options: {
    note: { type: 'string', value: 'TEXT', description: 'Purpose of the change, for lists and the console.' },
    network: { type: 'string', value: 'host|none', description: 'Network of commands in it. Default host.' },
    json: { type: 'boolean', description: 'Print the reply as JSON.' },
    ...addressOptions,
  },
  maxWords: 1,
  examples: ['workcell change begin try-it'],

  async run({ words: [name], options }) {
    const [note, network] = [text(options.note), text(options.network)];
    const asked = { ...(name !== undefined && { name }), ...(note && { note }), ...(network && { network }) };
    const reply = await withEngine(options, (bus) => bus.call('change::begin', asked, CLI));
    printReply(options, reply, () => `${Reply.parse(reply).change}\n`);
    return EXIT.ok;
  },
};
