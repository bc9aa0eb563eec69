/** workcell sandbox stop: ends a sandbox, and waits until nothing of it is left. */
import type { Command } from '../command.ts';
import { addressOptions } from '../engine-address.ts';
import { EXIT } from '../exit-codes.ts';
import { tellingFailures } from '../sandbox-command.ts';

export const sandboxStop: Command = {
  name: 'sandbox stop',
  aliases: ['worker sandbox stop'],
  summary: 'Stop a sandbox and throw away everything in it.',
  usage: '<sandbox-id>',
  options: addressOptions,
  minWords: 1,
  maxWords: 1,

  run({ words: [sandbox_id], options }) {
    return tellingFailures(options, async (bus) => {
      await bus.call('sandbox::stop', { sandbox_id, wait: true });
      process.stdout.write(`stopped ${sandbox_id}\n`);
      return EXIT.ok;
    });
  },
};
