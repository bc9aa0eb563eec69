/**
 * workcell sandbox exec: runs one command in a running sandbox and exits with its exit code.
 *
 * All words before `--` are sandboxes; without `--` only the first is.
 */
import { buffer } from 'node:stream/consumers';

import type { Bus } from '#contract';
import { valueOption, type Command, type CommandInput } from '../../command.ts';
import { addressOptions, text } from '../../engine-address.ts';
import { NOT_RUN } from '../../exit-codes.ts';
import { commandOf, readDuration, readPairs, showExec } from '../../sandbox/sandbox-command.ts';
import { envOption, timeoutOption } from '../../sandbox/sandbox-options.ts';
import { forEachSandbox } from '../../sandbox/each-sandbox.ts';
import { callStreaming } from '../../streamed-call.ts';

export const sandboxExec: Command = {
  name: 'sandbox exec',
  summary: 'Run a command in a sandbox, with its output as it comes and its exit code.',
  usage: '<sandbox>… [options] -- <program> [argument…]',
  details:
    'A sandbox is named by its id, the beginning of its id, or its name. With several, a line before the output of each\n' +
    'says which it is, and the exit code is the first that is not 0.',
  options: {
    ...timeoutOption,
    ...envOption,
    workdir: valueOption('DIR', 'Working directory.'),
    stdin: { type: 'boolean', description: 'Read standard input to its end and send it to the command.' },
    ...addressOptions,
  },
  examples: ['workcell sandbox exec lab -- python3 -V', 'workcell sandbox exec 3f2a 91bc -- uname -a'],
  minWords: 1,
  exitsAsProgram: true,

  async run(input) {
    const { options } = input;
    const sandboxes = sandboxesOf(input);
    const request = {
      argv: commandOf(input, sandboxes.length, 'sandbox exec'),
      timeout_ms: readDuration(text(options.timeout), '--timeout'),
      env: readPairs(options.env),
      workdir: text(options.workdir),
      stdin: options.stdin === true ? (await buffer(process.stdin)).toString('base64') : undefined,
    };
    const exec = async (bus: Bus, sandbox_id: string, { length }: readonly string[]) => {
      if (length > 1) process.stdout.write(`==> ${sandbox_id} <==\n`);
      return showExec(await callStreaming(bus, 'sandbox::exec', { sandbox_id, ...request }));
    };
    return forEachSandbox(options, sandboxes, exec, { failed: NOT_RUN.workcell });
  },
};

function sandboxesOf({ words, rest }: CommandInput): string[] {
  return rest.length > 0 ? words : words.slice(0, 1);
}
