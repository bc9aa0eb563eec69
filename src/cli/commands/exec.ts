/**
 * workcell exec: runs one command through shell::exec, as if it ran here.
 *
 * Prints its output as it comes and exits with its exit code; failures of Workcell itself exit with 125 to 127.
 */
import { text as readAll } from 'node:stream/consumers';

import { z } from 'zod';

import type { Connection } from '#client';
import { throughDoor } from '#contract';
import { UsageError, valueOption, type Command, type CommandInput } from '../command.ts';
import { printOutput, TIMED_OUT, WAIT_MS } from '../command-output.ts';
import { addressOptions, text, withEngine } from '../engine-address.ts';
import { EXIT } from '../exit-codes.ts';
import { printJson } from '../print.ts';
import { readNumber } from '../sandbox/sandbox-command.ts';
import { callStreaming } from '../streamed-call.ts';

const Reply = z.object({
  exit_code: z.int().nullish(),
  stdout: z.string(),
  stderr: z.string(),
  timed_out: z.boolean(),
  stdout_truncated: z.boolean(),
  stderr_truncated: z.boolean(),
  streamed: z.boolean().optional(),
});

export const exec: Command = {
  name: 'exec',
  summary: 'Run a command through the shell worker, with its output as it comes and its exit code.',
  usage: '[options] -- <program> [argument…]',
  details:
    'Exits with the code of the command, 124 when it timed out, 1 when a signal ended it; 127 when the program was not ' +
    'found, 126 when it cannot be started or the policy refuses it, 125 when Workcell itself failed. There is no shell ' +
    'in between; the worker’s policy decides what may run.',
  options: {
    cwd: valueOption('DIR', 'Directory to run in, inside fs.host_root.'),
    'timeout-ms': valueOption('MS', 'Kill it after this long; the worker caps it.'),
    env: valueOption('NAME=VALUE', 'Set a variable; may be repeated.', { multiple: true }),
    stdin: { type: 'boolean', description: 'Read standard input to its end and send it to the command.' },
    sandbox: valueOption('ID', 'Run it in this sandbox instead of on the host.'),
    json: { type: 'boolean', description: 'Print the reply as JSON instead of the output.' },
    ...addressOptions,
  },
  examples: ['workcell exec -- ls -la', 'workcell exec --cwd src --timeout-ms 2000 -- grep -rn TODO .'],
  maxWords: 0,
  exitsAsProgram: true,

  async run({ rest: [command, ...args], options }) {
    if (command === undefined) throw new UsageError('exec needs a command after --, such as: workcell exec -- ls -la');

    const payload = { command, args, ...(await payloadOf(options)) };
    const reply = await withEngine(options, (bus) =>
      options.json === true ? call(bus, payload) : callStreaming(bus, 'shell::exec', payload),
    );
    const result = Reply.parse(reply);
    if (options.json === true) printJson(reply);
    else if (result.streamed !== true) printOutput(result, 'at the worker’s max_output_bytes');
    if (options.json !== true && result.timed_out) process.stderr.write('workcell: timed out\n');
    return result.timed_out ? TIMED_OUT : (result.exit_code ?? EXIT.failed);
  },
};

function call(bus: Connection, payload: object): Promise<unknown> {
  return bus.call('shell::exec', payload, { timeoutMs: WAIT_MS, metadata: throughDoor('cli') });
}

async function payloadOf(options: CommandInput['options']): Promise<Record<string, unknown>> {
  const env = Array.isArray(options.env) ? Object.fromEntries(options.env.map(toVariable)) : undefined;
  const sandboxId = text(options.sandbox);
  return {
    cwd: text(options.cwd),
    // The worker treats anything but a whole number as absent.
    timeout_ms: readNumber(text(options['timeout-ms']), '--timeout-ms'),
    env,
    stdin: options.stdin === true ? await readAll(process.stdin) : undefined,
    ...(sandboxId === undefined ? {} : { target: { kind: 'sandbox', sandbox_id: sandboxId } }),
  };
}

function toVariable(pair: string): [string, string] {
  const at = pair.indexOf('=');
  if (at <= 0) throw new UsageError(`--env "${pair}" is not NAME=VALUE`);
  return [pair.slice(0, at), pair.slice(at + 1)];
}
