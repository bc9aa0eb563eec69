/** workcell sandbox create: creates a sandbox that stays; standard output gets only its id. */
import { z } from 'zod';

import { valueOption, type Command } from '../../command.ts';
import { addressOptions, text } from '../../engine-address.ts';
import { EXIT } from '../../exit-codes.ts';
import { clearLine, showingEvents } from '../../live-line.ts';
import { printReply } from '../../print.ts';
import { WAIT_MS } from '../../command-output.ts';
import { readNumber, reportingFailures } from '../../sandbox/sandbox-command.ts';
import { shapeOf, shapeOptions } from '../../sandbox/sandbox-options.ts';

const Created = z.object({ sandbox_id: z.string(), isolation: z.string().optional() });

export const sandboxCreate: Command = {
  name: 'sandbox create',
  summary: 'Start a sandbox and print its id.',
  usage: '<image>',
  options: {
    ...shapeOptions,
    name: valueOption('LABEL', 'A label for the list.'),
    'idle-timeout': valueOption('SECS', 'Stop it after this long without a call.'),
    json: { type: 'boolean', description: 'Print the reply as JSON.' },
    ...addressOptions,
  },
  examples: ['workcell sandbox create python --name lab --memory 1024'],
  minWords: 1,
  maxWords: 1,

  run({ words: [image], options }) {
    const request = {
      image,
      ...shapeOf(options),
      name: text(options.name),
      idle_timeout_secs: readNumber(text(options['idle-timeout']), '--idle-timeout'),
    };
    return reportingFailures(options, async (bus) => {
      const startMs = performance.now();
      const calling = bus.call('sandbox::create', request, { timeoutMs: WAIT_MS, ...showingEvents() });
      const reply = await calling.finally(clearLine);
      const { sandbox_id, isolation } = Created.parse(reply);
      printReply(options, reply, () => `${sandbox_id}\n`);
      if (process.stderr.isTTY) {
        const secs = ((performance.now() - startMs) / 1000).toFixed(1);
        process.stderr.write(`ready in ${secs} s (${isolation ?? 'isolation unknown'})\n`);
      }
      return EXIT.ok;
    });
  },
};
