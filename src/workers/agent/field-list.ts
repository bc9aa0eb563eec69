/** The fields of a function as lines: name, type, default and description, from its published schema. */
import { isMap, type CatalogueEntry, type JsonSchema } from '#contract';

const MAX_DEPTH = 3;

export function describeFields({ id, summary, details, request, examples, effect }: CatalogueEntry): string {
  const [example] = examples;
  const fields = request ? new Fields(request).lines(request, '', 0) : [];
  return [
    `${id} (${effect ?? 'may do anything'}): ${summary}`,
    ...(details === undefined ? [] : [details]),
    ...(fields.length > 0 ? fields : ['no fields']),
    ...(example === undefined ? [] : [`example: ${JSON.stringify(example)}`]),
  ].join('\n');
}

class Fields {
  readonly #definitions: Record<string, JsonSchema>;

  constructor({ definitions }: JsonSchema) {
    this.#definitions = isMap(definitions) ? (definitions as Record<string, JsonSchema>) : {};
  }

  lines(given: JsonSchema, indent: string, depth: number): string[] {
    const schema = this.#inner(given);
    if (!isMap(schema.properties) || depth > MAX_DEPTH) return [];
    const required = new Set(Array.isArray(schema.required) ? schema.required : []);
    return Object.entries(schema.properties as Record<string, JsonSchema>).flatMap(([name, field]) => {
      const { description, default: fallback } = field;
      const optional = required.has(name) ? '' : '?';
      const said = fallback === undefined || fallback === null ? '' : ` = ${JSON.stringify(fallback)}`;
      const about = typeof description === 'string' ? `  ${description}` : '';
      return [
        `${indent}- ${name}${optional}: ${this.#typeOf(field)}${said}${about}`,
        ...this.#below(field, indent, depth),
      ];
    });
  }

  #below(field: JsonSchema, indent: string, depth: number): string[] {
    const alternatives = this.#inner(field).oneOf ?? this.#inner(field).anyOf;
    const all = Array.isArray(alternatives) ? (alternatives as JsonSchema[]) : [field];
    return all.flatMap((one) => this.lines(one, `${indent}  `, depth + 1));
  }

  #typeOf(given: JsonSchema): string {
    const schema = this.#resolved(given);
    if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
    const alternatives = (schema.anyOf ?? schema.oneOf) as JsonSchema[] | undefined;
    if (alternatives) return [...new Set(alternatives.map((one) => this.#typeOf(one)))].join(' | ');
    if (schema.type === 'array' && isMap(schema.items)) return `${this.#typeOf(schema.items)}[]`;
    return [schema.type ?? 'any'].flat().map(String).join(' | ');
  }

  /** The object schema of a field, in a list or not. */
  #inner(given: JsonSchema): JsonSchema {
    const schema = this.#resolved(given);
    return schema.type === 'array' && isMap(schema.items) ? this.#inner(schema.items) : schema;
  }

  #resolved(schema: JsonSchema): JsonSchema {
    const [only] = Array.isArray(schema.allOf) ? (schema.allOf as JsonSchema[]) : [];
    const ref = (schema.$ref ?? only?.$ref) as string | undefined;
    return (ref && this.#definitions[ref.replace('#/definitions/', '')]) || schema;
  }
}
