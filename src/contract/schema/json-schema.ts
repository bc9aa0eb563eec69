/**
 * The only zod → JSON Schema conversion: draft-07, spelled as the iii workers publish theirs.
 *
 * Differences from zod's own output: integer formats without an upper bound, `type: [T, "null"]`
 * for a nullable plain type, and `additionalProperties` only for the value type of a map (unknown
 * fields are always tolerated).
 */
import { z } from 'zod';

export type JsonSchema = Record<string, unknown>;

const INTEGER_FORMATS = new Set(['uint', 'uint32', 'uint64', 'int32', 'int64']);

/** The schema of a request: fields with a default are optional. */
export function requestSchema(schema: z.ZodType, title: string): JsonSchema {
  return convert(schema, title, 'input');
}

/** The schema of a response. */
export function responseSchema(schema: z.ZodType, title: string): JsonSchema {
  return convert(schema, title, 'output');
}

function convert(schema: z.ZodType, title: string, io: 'input' | 'output'): JsonSchema {
  const { $schema, ...rest } = z.toJSONSchema(schema, {
    target: 'draft-7',
    io,
    override: ({ jsonSchema }) => respell(jsonSchema),
  });
  return { $schema, title, ...rest };
}

function respell(schema: JsonSchema): void {
  if (!isValueSchema(schema.additionalProperties)) delete schema.additionalProperties;
  delete schema.propertyNames;
  delete schema.id;
  if (typeof schema.format === 'string' && INTEGER_FORMATS.has(schema.format)) {
    delete schema.maximum;
    if (!schema.format.startsWith('u')) delete schema.minimum;
  }
  mergeNullable(schema);
}

function isValueSchema(additional: unknown): boolean {
  return typeof additional === 'object' && additional !== null && Object.keys(additional).length > 0;
}

/** `anyOf: [{type: T, …}, {type: null}]` → `{type: [T, null], …}`, unless T is a reference. */
function mergeNullable(schema: JsonSchema): void {
  if (!Array.isArray(schema.anyOf) || schema.anyOf.length !== 2) return;

  const [value, none] = schema.anyOf as [JsonSchema, JsonSchema];
  if (none.type !== 'null' || typeof value.type !== 'string') return;

  delete schema.anyOf;
  Object.assign(schema, value, { ...schema, type: [value.type, 'null'] });
}
