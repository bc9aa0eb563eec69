/** The fields of a JSON Schema object as rows of a table: what to send, what comes back. */
import type { JsonSchema } from '#contract';

export interface SchemaField {
  name: string;
  type: string;
  isRequired: boolean;
  /** As JSON; absent when the field has none. */
  default?: string;
  description: string;
}

export function schemaFields(schema: JsonSchema | undefined): SchemaField[] {
  const properties = (schema?.properties ?? {}) as Record<string, JsonSchema>;
  const required = new Set((schema?.required ?? []) as string[]);
  return Object.entries(properties).map(([name, property]) => ({
    name,
    type: typeName(property, schema ?? {}),
    isRequired: required.has(name),
    ...('default' in property ? { default: JSON.stringify(property.default) } : {}),
    description: typeof property.description === 'string' ? property.description : '',
  }));
}

/** One type in words: `string`, `uint32 or null`, `DirEntry[]`, `"a" or "b"`. */
function typeName(schema: JsonSchema, root: JsonSchema): string {
  if (typeof schema.$ref === 'string') return refName(schema.$ref, root);
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(' or ');
  if ('const' in schema) return JSON.stringify(schema.const);
  const variants = (schema.anyOf ?? schema.oneOf ?? schema.allOf) as JsonSchema[] | undefined;
  if (variants) return variants.map((variant) => typeName(variant, root)).join(' or ');
  const types = [schema.type ?? 'any'].flat() as string[];
  return types.map((type) => plainTypeName(type, schema, root)).join(' or ');
}

function plainTypeName(type: string, schema: JsonSchema, root: JsonSchema): string {
  if (type === 'array') return `${typeName((schema.items ?? {}) as JsonSchema, root)}[]`;
  if (type === 'integer' && typeof schema.format === 'string') return schema.format;
  return type;
}

function refName(ref: string, root: JsonSchema): string {
  const name = ref.split('/').at(-1) ?? ref;
  const target = ((root.definitions ?? {}) as Record<string, JsonSchema>)[name];
  return target && Array.isArray(target.enum) ? typeName(target, root) : name;
}
