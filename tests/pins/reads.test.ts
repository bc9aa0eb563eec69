/** Every function that takes a request declares how its calls read, by fields that its schemas have. */
import { expect, test } from 'vitest';

import { announce, isWatchId, type JsonSchema } from '#contract';
import { availableWorkers } from '../../src/assembly/workers.ts';

const functions = availableWorkers.flatMap((def) =>
  def.functions.map((fn) => ({ ...announce(def, fn), isWatch: fn.isWatch === true })),
);

/** Schemas at a dotted path, through references, lists, and alternatives. */
function at(schema: JsonSchema, root: JsonSchema, [name, ...rest]: string[]): JsonSchema[] {
  const ref = /^#\/(?:\$defs|definitions)\/(.+)$/.exec(typeof schema.$ref === 'string' ? schema.$ref : '')?.[1];
  const defs = (root.$defs ?? root.definitions ?? {}) as Record<string, JsonSchema>;
  if (ref !== undefined) return at(defs[ref]!, root, [name!, ...rest]);
  const inner = ['anyOf', 'oneOf', 'allOf'].flatMap((key) => (schema[key] as JsonSchema[] | undefined) ?? []);
  const items = schema.items as JsonSchema | undefined;
  const found = (schema.properties as Record<string, JsonSchema> | undefined)?.[name!];
  return [
    ...inner.flatMap((one) => at(one, root, [name!, ...rest])),
    ...(items ? at(items, root, [name!, ...rest]) : []),
    ...(found ? (rest.length === 0 ? [found] : at(found, root, rest)) : []),
  ];
}

test('every function with fields declares its line', () => {
  const silent = functions.filter(({ request_format, metadata: { reads }, isWatch }) => {
    const fields = Object.keys((request_format.properties as object | undefined) ?? {});
    return !isWatch && fields.length > 0 && reads === undefined;
  });
  expect(silent.map(({ id }) => id).toSorted()).toEqual([
    // Nothing in their requests distinguishes one call from another.
    'agent::changes',
    'sandbox::list',
    'shell::list',
  ]);
});

test('every watch is named ::watch, by which a node that leaves does not wait for it', () => {
  const watches = functions.filter(({ isWatch }) => isWatch).map(({ id }) => id);
  expect(watches).not.toEqual([]);
  expect(watches.filter((id) => !isWatchId(id))).toEqual([]);
});

test.each(functions.flatMap((fn) => (fn.metadata.reads ? [[fn.id, fn] as const] : [])))(
  '%s has the fields that it declares',
  (_, { request_format, response_format, metadata: { reads } }) => {
    const { line, notes = [] } = reads!;
    const missing = [
      ...line.filter((field) => at(request_format, request_format, field.split('.')).length === 0),
      ...notes.filter(({ field }) => at(response_format, response_format, field.split('.')).length === 0),
    ];
    expect(missing).toEqual([]);
  },
);
