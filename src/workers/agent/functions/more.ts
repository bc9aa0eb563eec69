/**
 * agent::more: lists, explains and calls every other function of the catalogue, including those of foreign workers.
 *
 * The call is made in the caller's name, so the engine allows exactly the same calls as without this function.
 */
import { z } from 'zod';

import {
  didYouMean,
  Failure,
  failedResultText,
  isFailedResult,
  isMap,
  itemFailures,
  readCatalogue,
  renderText,
  throughDoor,
  withContent,
  type CallScope,
  type CatalogueEntry,
} from '#contract';
import { errors } from '../errors.ts';
import { describeFields } from '../field-list.ts';
import { shortened } from '../shortened.ts';
import { agent } from '../worker.ts';

const CALL_MS = 24 * 3_600_000;
const DEADLINE_MS = 2_147_483_647;
const MAX_CONTENT_BYTES = 16 * 2 ** 20;
const NAMESPACE = 'default';

export const more = agent.defineFunction({
  id: 'agent::more',
  summary: 'Every other function. Without fields: their names. With function: its fields. With args too: calls it.',
  effect: 'execute',
  permissions: [],
  calls: ['engine::functions::list'],
  deadlineMs: DEADLINE_MS,
  request: z.object({
    function: z.string().optional().describe('Like shell::fs::chmod.'),
    args: z.record(z.string(), z.unknown()).optional(),
  }),
  response: z.object({
    text: z.string().describe('The names, the fields, or the result as text.'),
    result: z.unknown().optional().describe('Result of the function.'),
  }),
  reads: { line: ['function'] },
  errors: ['A210', 'A216', 'A224'],
  examples: [{}, { function: 'coder::tree' }],

  async handle({ function: id, args }, context, scope) {
    const catalogue = (await readCatalogue(scope.bus)).filter(({ namespace }) => namespace === NAMESPACE);
    const session = context.sessions.of(scope.call);
    const cut = (text: string) =>
      shortened(text, { maxChars: context.replyChars, keep: () => session.keepOutput(text) });
    if (id === undefined) return { text: cut(namesOf(catalogue)) };
    const entry = catalogue.find((one) => one.id === id);
    if (!entry) {
      const hint = didYouMean(
        id,
        catalogue.map((one) => one.id),
      );
      throw errors.fail('A224', { problem: `there is no function ${id}${hint}; \`more\` without fields lists them` });
    }
    if (args === undefined) return { text: cut(describeFields(entry)) };

    const { result, text } = await callIt(entry, args, scope);
    return { text: cut(text), result };
  },

  text: ({ text }) => text,
});

/** The names of the functions, one line for each worker. */
function namesOf(catalogue: readonly CatalogueEntry[]): string {
  const byWorker = new Map<string, string[]>();
  for (const { id } of catalogue) {
    const [worker = id, ...rest] = id.split('::');
    if (worker === 'agent') continue;
    byWorker.set(worker, [...(byWorker.get(worker) ?? []), rest.join('::') || id]);
  }
  const lines = [...byWorker].map(([worker, names]) => `${worker}:: ${names.join(', ')}`);
  return [...lines, 'more {"function": "coder::tree"} shows its fields; with "args": {…} calls it'].join('\n');
}

async function callIt(
  entry: CatalogueEntry,
  args: Record<string, unknown>,
  { bus, signal, emit }: CallScope,
): Promise<{ result: unknown; text: string }> {
  const functionId = entry.id;
  let text: string | undefined;
  const onText = (given: string) => void (text = given);
  const options = {
    timeoutMs: CALL_MS,
    signal,
    metadata: throughDoor('model'),
    onText,
    ...(emit && { onEvent: emit }),
  };
  const reply = await bus.call(functionId, args, options);
  const result = await withContent(bus, reply, { functionId, maxBytes: MAX_CONTENT_BYTES });
  if (isFailedResult(result, entry) && isMap(result)) throw failure(failedResultText(result, args));
  const items = entry.fails_in_items === undefined ? undefined : itemFailures(result, entry.fails_in_items);
  if (items?.areAll) throw failure(items.text);
  return { result, text: [...(items ? [items.text] : []), text ?? renderText(result)].join('\n') };
}

/** A failure whose text begins with the code of the function. */
function failure(text: string): Failure {
  const [, code = 'A216', message = text] = /^(\w+): ([\s\S]*)$/.exec(text) ?? [];
  return new Failure({ code, message });
}
