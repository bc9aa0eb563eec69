/**
 * Finds fields of a request that are not in the function's published schema.
 *
 * Parsing drops them without a word, so a caller that writes `limit` for `line_to` gets an answer to another question.
 * Names that begin with `_` always pass: iii's own engine adds `_caller_worker_id`.
 */
import { aliasedField } from './field-aliases.ts';
import { isMap } from '../schema/is-map.ts';
import type { JsonSchema } from '../schema/json-schema.ts';

interface Unknown {
  path: string;
  name: string;
  known: string[];
}

const MOST_SHOWN = 3;

/** The unknown and the known fields in one sentence; undefined when every field is known. */
export function describeUnknownFields(schema: JsonSchema, payload: unknown): string | undefined {
  const unknown = new Fields(schema).unknownIn(schema, payload, '');
  if (unknown.length === 0) return undefined;

  const shown = unknown.slice(0, MOST_SHOWN).map(({ path, name, known }) => {
    const meant = aliasedField(name, known);
    const hint = meant === undefined ? '' : ` (did you mean \`${meant}\`?)`;
    return `unknown field \`${path.slice(0, 200)}\`${hint}`;
  });
  const { known } = unknown[0]!;
  const fields = known.length === 0 ? 'there are no fields' : `the fields are ${known.join(', ')}`;
  return `${shown.join(', ')}; ${fields}`;
}

class Fields {
  readonly #definitions: Record<string, JsonSchema>;

  constructor({ definitions }: JsonSchema) {
    this.#definitions = isMap(definitions) ? (definitions as Record<string, JsonSchema>) : {};
  }

  unknownIn(given: JsonSchema, value: unknown, path: string): Unknown[] {
    const schema = this.#resolved(given);
    const alternatives = (schema.anyOf ?? schema.oneOf) as JsonSchema[] | undefined;
    if (alternatives) return this.#unknownInBest(alternatives, value, path);
    if (Array.isArray(value)) {
      const { items } = schema;
      return isMap(items) ? value.flatMap((item, i) => this.unknownIn(items, item, `${path}[${i}]`)) : [];
    }
    if (!isMap(value) || !isMap(schema.properties)) return [];
    return this.#unknownInMap(schema, value, path);
  }

  #unknownInMap(schema: JsonSchema, value: Record<string, unknown>, path: string): Unknown[] {
    const properties = schema.properties as Record<string, JsonSchema>;
    return Object.entries(value).flatMap(([name, field]) => {
      const at = path === '' ? name : `${path}.${name}`;
      if (Object.hasOwn(properties, name)) return this.unknownIn(properties[name]!, field, at);
      if (name.startsWith('_') || schema.additionalProperties) return [];
      return [{ path: at, name, known: Object.keys(properties) }];
    });
  }

  /**
   * Alternatives are distinguished by a field with one value, such as `op`; else the one with the fewest unknown fields
   * counts.
   */
  #unknownInBest(alternatives: JsonSchema[], value: unknown, path: string): Unknown[] {
    const fitting = alternatives.map((one) => this.#resolved(one)).filter((one) => hasSameType(one, value));
    const meant = fitting.filter((one) => hasSameTag(one, value));
    const found = (meant.length > 0 ? meant : fitting).map((one) => this.unknownIn(one, value, path));
    return found.toSorted((a, b) => a.length - b.length)[0] ?? [];
  }

  #resolved(schema: JsonSchema): JsonSchema {
    const [only] = Array.isArray(schema.allOf) ? (schema.allOf as JsonSchema[]) : [];
    const ref = (schema.$ref ?? only?.$ref) as string | undefined;
    return (ref && this.#definitions[ref.replace('#/definitions/', '')]) || schema;
  }
}

function hasSameType({ type }: JsonSchema, value: unknown): boolean {
  const own = Array.isArray(value) ? 'array' : typeof value;
  return type === undefined || [type].flat().includes(own);
}

function hasSameTag({ properties }: JsonSchema, value: unknown): boolean {
  if (!isMap(properties) || !isMap(value)) return false;
  return Object.entries(properties as Record<string, JsonSchema>).some(
    ([name, { enum: values }]) => Array.isArray(values) && values.length === 1 && value[name] === values[0],
  );
}
