/**
 * Converts a catalogue schema for model providers: one type per schema, and no keywords of the bus.
 *
 * Several providers support only a part of JSON Schema and refuse a whole tool for a list of types. An optional field
 * loses its null, so every request that fits this schema also fits the function's; elsewhere a list of types becomes
 * equivalent alternatives.
 */
import type { Tool } from '@modelcontextprotocol/server';

import { isMap, type JsonSchema } from '#contract';

type Side = 'input' | 'output';

/** Tools take and return objects; a function with another schema is offered without it. */
export function toolSchema(schema: JsonSchema | undefined, side: Side): Tool['inputSchema'] | undefined {
  return schema?.type === 'object' ? (portable(schema, side) as Tool['inputSchema']) : undefined;
}

/** Keywords that hold values, not schemas. */
const VALUES = new Set(['default', 'enum', 'const', 'examples']);
/** Keywords that stay beside the alternatives; the others move into them. */
const OUTSIDE = new Set(['title', 'description', 'default', 'examples', 'definitions', '$schema']);
const NUMBER_FORMAT = /^u?int(8|16|32|64)?$/;
const NULL = { type: 'null' };

function portable(schema: unknown, side: Side): unknown {
  if (Array.isArray(schema)) return schema.map((one) => portable(one, side));
  if (!isMap(schema)) return schema;

  const fields = Object.entries(schema)
    // Number formats are specific to the bus; a client's validator warns of each one.
    .filter(([key, value]) => key !== 'format' || !NUMBER_FORMAT.test(String(value)))
    // A model pays for every word and needs neither; `title` may also be a field name in `properties`.
    .filter(([key, value]) => key !== '$schema' && !(key === 'title' && typeof value === 'string'))
    .map(([key, value]) => [key, VALUES.has(key) ? value : portable(value, side)]);
  return withOneType(withoutIdleNulls(Object.fromEntries(fields) as JsonSchema, side));
}

function withoutIdleNulls(schema: JsonSchema, side: Side): JsonSchema {
  const { properties, required } = schema;
  if (side === 'output' || !isMap(properties)) return schema;

  const needed = new Set(Array.isArray(required) ? required : []);
  const fields = Object.entries(properties).map(([name, field]) => [
    name,
    isMap(field) && !needed.has(name) ? withoutNull(field) : field,
  ]);
  return { ...schema, properties: Object.fromEntries(fields) };
}

function withoutNull(field: JsonSchema): JsonSchema {
  const { anyOf, default: fallback, ...rest } = field;
  if (!Array.isArray(anyOf) || !anyOf.some(isNull)) return field;

  const others = (anyOf as unknown[]).filter((one) => !isNull(one));
  const [only] = others;
  const kept = fallback === null || fallback === undefined ? rest : { ...rest, default: fallback };
  if (others.length > 1 || !isMap(only)) return { ...kept, anyOf: others };
  // A reference hides the keywords beside it.
  return '$ref' in only ? { ...kept, allOf: [only] } : { ...kept, ...only };
}

/** `{type: [a, b]}` as `{anyOf: [{type: a}, {type: b}]}`. */
function withOneType(schema: JsonSchema): JsonSchema {
  const { type: types, ...rest } = schema;
  if (!Array.isArray(types)) return schema;

  const entries = Object.entries(rest);
  const outside = Object.fromEntries(entries.filter(([key]) => OUTSIDE.has(key)));
  const inside = Object.fromEntries(entries.filter(([key]) => !OUTSIDE.has(key)));
  return { ...outside, anyOf: types.map((type: unknown) => (type === 'null' ? NULL : { type, ...inside })) };
}

function isNull(schema: unknown): boolean {
  return isMap(schema) && schema.type === 'null';
}
