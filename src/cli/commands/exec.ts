/**
 * workcell exec: runs one command through shell::exec, as if it ran here.
 *
 * Prints its output and exits with its exit code, so 1, 2 and 3 may be the command's own; Workcell's own errors begin
 * with `Error:` or are JSON on standard error.
 */
import { text as readAll } from 'node:stream/consumers';

import { z } from 'zod';

import { throughDoor } from '#contract';
import { UsageError, type Command, type CommandInput } from '../command.ts';
import { cutLine } from '../cut-output.ts';
import { addressOptions, text, withEngine } from '../engine-address.ts';
import { EXIT } from '../exit-codes.ts';
import { printJson, printText } from '../print.ts';

/** Exit code of `timeout` from coreutils. */
const TIMED_OUT = 124;
/** The worker enforces its own time limit; this one only has to be longer. */
const WAIT_MS = 2_147_483_647;

const Reply = z.object({
  exit_code: z.int().nullish(),
  stdout: z.string(),
  stderr: z.string(),
  timed_out: z.boolean(),
  stdout_truncated: z.boolean(),
  stderr_truncated: z.boolean(),
});

export const exec: Command = {
  name: 'exec',
  summary: 'Run a command through the shell worker, with its output and its exit code.',
  usage: '[options] -- <program> [argument…]',
  details:
    'Exits with the code of the command, 124 when it timed out, 1 when a signal ended it. There is no shell in between;\n' +
    'the worker’s policy decides what may run.',
  options: {
    cwd: { type: 'string', value: 'DIR', description: 'Directory to run in, inside fs.host_root.' },
    'timeout-ms': { type: 'string', value: 'MS', description: 'Kill it after this long; the worker caps it.' },
    env: { type: 'string', value: 'NAME=VALUE', description: 'Set a variable; may be repeated.', multiple: true },
    stdin: { type: 'boolean', description: 'Pass standard input on, read to its end first.' },
    sandbox: { type: 'string', value: 'ID', description: 'Run it in this sandbox instead of on the host.' },
    json: { type: 'boolean', description: 'Print the reply as JSON instead of the output.' },
    ...addressOptions,
  },
  examples: ['workcell exec -- ls -la', 'workcell exec --cwd src --timeout-ms 2000 -- grep -rn TODO .'],
  maxWords: 0,

  async run({ rest: [command, ...args], options }) {
    if (command === undefined) throw new UsageError('exec needs a command after --, such as: workcell exec -- ls -la');

    const payload = { command, args, ...(await payloadOf(options)) };
    const asked = { timeoutMs: WAIT_MS, metadata: throughDoor('cli') };
    const reply = await withEngine(options, (bus) => bus.call('shell::exec', payload, asked));
    const result = Reply.parse(reply);
    if (options.json === true) printJson(reply);
    else printOutput(result);
    return result.timed_out ? TIMED_OUT : (result.exit_code ?? EXIT.failed);
  },
};

async function payloadOf(options: CommandInput['options']): Promise<Record<string, unknown>> {
  const env = Array.isArray(options.env) ? Object.fromEntries(options.env.map(toVariable)) : undefined;
  const sandboxId = text(options.sandbox);
  return {
    cwd: text(options.cwd),
    timeout_ms: toMs(text(options['timeout-ms'])),
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

function toMs(given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  // The worker treats any other value as absent.
  if (!/^\d+$/.test(given)) throw new UsageError(`--timeout-ms must be a whole number (got ${given})`);
  return Number(given);
}

function printOutput(result: z.output<typeof Reply>): void {
  printText(result.stdout);
  printText(result.stderr, process.stderr);
  process.stderr.write(cutLine(result, 'at the worker’s max_output_bytes'));
  if (result.timed_out) process.stderr.write('workcell: timed out\n');
}
