/** workcell call: calls any function of a running engine and prints its reply. */
import { z } from 'zod';

import type { Connection } from '#client';
import { CallError, isFailedResult, readCatalogue, saysFailed, throughDoor, withContent } from '#contract';
import { toPayload } from '../call-arguments.ts';
import { commandHelp, UsageError, valueOption, type Command } from '../command.ts';
import { addressOptions, text, withEngine } from '../engine-address.ts';
import { EXIT } from '../exit-codes.ts';
import { functionHelp } from '../function-help.ts';
import { clearLine, showingEvents } from '../live-line.ts';
import { printJson, printText } from '../print.ts';

const DEFAULT_TIMEOUT_MS = '30000';
/** Largest file that is printed in a reply. */
const MAX_CONTENT_BYTES = 64 * 2 ** 20;

export const call: Command = {
  name: 'call',
  summary: 'Call a function and print its reply: as text where the function defines one, else as JSON.',
  usage: '<function-id> [key=value…]',
  details:
    'A value is JSON if it parses, else text. A failed call prints {code, message, …} on standard error and exits 1.\n' +
    'The filesystem functions fail in their reply: a reply with "success": false is printed as it is, and exits 1 too.\n' +
    'workcell call <function-id> --help shows the fields of that function.',
  options: {
    json: valueOption('OBJECT', 'The request as JSON; pairs are merged over it.'),
    'timeout-ms': valueOption('MS', 'Milliseconds to wait for the reply.', { default: DEFAULT_TIMEOUT_MS }),
    events: {
      type: 'boolean',
      description: 'Print events of the running call, as JSON lines on standard error.',
    },
    structured: { type: 'boolean', description: 'Always print JSON.' },
    namespace: valueOption('NAME', 'Namespace of the function.', { short: 'n' }),
    ...addressOptions,
  },
  examples: [
    'workcell call coder::read-file path=README.md',
    `workcell call coder::list-folder --json '{"path": "src", "page_size": 10}'`,
  ],
  minWords: 1,
  isJsonOnly: true,

  async run({ words, options }) {
    const [functionId, ...pairs] = words;
    const payload = toPayload(pairs, text(options.json));
    const timeoutMs = Number(options['timeout-ms']);
    if (!(timeoutMs > 0)) {
      throw new UsageError(`--timeout-ms must be a number above 0 (got ${String(options['timeout-ms'])})`);
    }

    const namespace = text(options.namespace);
    return withEngine(options, async (bus) => {
      const shown = options.events === true ? { onEvent: printEvent } : showingEvents();
      let readable: string | undefined;
      const onText = options.structured === true ? undefined : (given: string) => void (readable = given);
      const sent = { timeoutMs, namespace, metadata: throughDoor('cli'), onText, ...shown };
      const reply = await bus.call(functionId!, payload, sent).finally(clearLine);
      const result = await withContent(bus, reply, { functionId: functionId!, maxBytes: MAX_CONTENT_BYTES });
      if (readable === undefined) printJson(result ?? null);
      else printText(`${readable}\n`);
      return (await isFailure(bus, { functionId: functionId!, namespace, result })) ? EXIT.failed : EXIT.ok;
    });
  },

  async helpFor({ words: [functionId], options }) {
    if (functionId === undefined) return commandHelp(call);
    return withEngine(options, async (bus) => {
      const namespace = text(options.namespace);
      const catalogue = await readCatalogue(bus, { includeInternal: true, namespace });
      const entry = catalogue.find(({ id }) => id === functionId);
      if (!entry)
        throw new CallError(
          functionId,
          await notFound(bus.call('engine::functions::info', { function_id: functionId, namespace })),
        );
      return functionHelp(entry);
    });
  },
};

function printEvent(event: object): void {
  printText(`${JSON.stringify(event)}\n`, process.stderr);
}

/**
 * `success: false` is a failed call for some functions and a normal answer for others, such as commands; the catalogue
 * says which.
 */
async function isFailure(
  bus: Connection,
  { functionId, namespace = 'default', result }: { functionId: string; namespace?: string; result: unknown },
): Promise<boolean> {
  if (!saysFailed(result)) return false;
  const entries = await readCatalogue(bus, { includeInternal: true, prefix: functionId, namespace });
  const entry = entries.find(({ id, namespace: itsOwn }) => id === functionId && itsOwn === namespace);
  return entry !== undefined && isFailedResult(result, entry);
}

/** The engine's own error for an unknown function. */
async function notFound(info: Promise<unknown>) {
  const error: unknown = await info.catch((thrown: unknown) => thrown);
  return error instanceof CallError ? error.body : z.never().parse(error);
}
