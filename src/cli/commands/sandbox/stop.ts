/** workcell sandbox stop: stops sandboxes, and waits until nothing of them is left. */
import type { Command } from '../../command.ts';
import { addressOptions } from '../../engine-address.ts';
import { EXIT } from '../../exit-codes.ts';
import { forEachSandbox } from '../../sandbox/each-sandbox.ts';

export const sandboxStop: Command = {
  name: 'sandbox stop',
  summary: 'Stop sandboxes and delete everything in them.',
  usage: '<sandbox>…',
  details: 'A sandbox is named by its id, the beginning of its id, or its name.',
  options: addressOptions,
  examples: ['workcell sandbox stop lab', 'workcell sandbox stop 3f2a 91bc'],
  minWords: 1,

  run({ words, options }) {
    return forEachSandbox(options, words, async (bus, sandbox_id) => {
      await bus.call('sandbox::stop', { sandbox_id, wait: true });
      process.stdout.write(`stopped ${sandbox_id}\n`);
      return EXIT.ok;
    });
  },
};
