/** workcell sandbox exec: one command in a sandbox that lives, with its output and its exit code. */
import { buffer } from 'node:stream/consumers';

import type { Command } from '../command.ts';
import { addressOptions, text } from '../engine-address.ts';
import { commandOf, readDuration, readPairs, showExec, tellingFailures, WAIT_MS } from '../sandbox-command.ts';
import { envOption, timeoutOption } from '../sandbox-options.ts';

export const sandboxExec: Command = {
  name: 'sandbox exec',
  aliases: ['worker sandbox exec'],
  summary: 'Run a command in a sandbox, with its output and its exit code.',
  usage: '<sandbox-id> [options] -- <program> [argument…]',
  options: {
    ...timeoutOption,
    ...envOption,
    workdir: { type: 'string', value: 'DIR', description: 'Where it runs.' },
    stdin: { type: 'boolean', description: 'Pass standard input on, read to its end first.' },
    ...addressOptions,
  },
  examples: ['workcell sandbox exec $id -- python3 -V'],
  minWords: 1,

  async run(input) {
    const { words, options } = input;
    const request = {
      sandbox_id: words[0],
      argv: commandOf(input, 1, 'sandbox exec'),
      timeout_ms: readDuration(text(options.timeout), '--timeout'),
      env: readPairs(options.env),
      workdir: text(options.workdir),
      stdin: options.stdin === true ? (await buffer(process.stdin)).toString('base64') : undefined,
    };
    return tellingFailures(options, async (bus) =>
      showExec(await bus.call('sandbox::exec', request, { timeoutMs: WAIT_MS })),
    );
  },
};
