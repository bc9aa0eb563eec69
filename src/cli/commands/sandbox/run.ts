/** workcell sandbox run: runs one command in a new sandbox and stops the sandbox afterwards, also after a signal. */
import { z } from 'zod';

import type { Command } from '../../command.ts';
import { addressOptions, text } from '../../engine-address.ts';
import { interruptible } from '../../interruptible.ts';
import { clearLine, showingEvents } from '../../live-line.ts';
import { WAIT_MS } from '../../command-output.ts';
import { commandOf, readDuration, reportingFailures, showExec } from '../../sandbox/sandbox-command.ts';
import { shapeOf, shapeOptions, timeoutOption } from '../../sandbox/sandbox-options.ts';
import { callStreaming } from '../../streamed-call.ts';

const Created = z.object({ sandbox_id: z.string() });

export const sandboxRun: Command = {
  name: 'sandbox run',
  summary: 'Run a command in a fresh sandbox, with its output as it comes and its exit code.',
  usage: '<image> [options] -- <program> [argument…]',
  options: { ...shapeOptions, ...timeoutOption, ...addressOptions },
  examples: ['workcell sandbox run python -- python3 -c "print(6 * 7)"'],
  minWords: 1,
  exitsAsProgram: true,

  run(input) {
    const { words, options } = input;
    const [image] = words;
    const argv = commandOf(input, 1, 'sandbox run');
    const timeout_ms = readDuration(text(options.timeout), '--timeout');
    return interruptible((signal) =>
      reportingFailures(
        options,
        async (bus) => {
          const wanted = { image, ...shapeOf(options) };
          const creating = bus.call('sandbox::create', wanted, { timeoutMs: WAIT_MS, signal, ...showingEvents() });
          const { sandbox_id } = Created.parse(await creating.finally(clearLine));
          try {
            const request = { sandbox_id, argv, timeout_ms };
            return showExec(await callStreaming(bus, 'sandbox::exec', request, { signal }));
          } finally {
            await bus.call('sandbox::stop', { sandbox_id, wait: true });
          }
        },
        signal,
      ),
    );
  },
};
