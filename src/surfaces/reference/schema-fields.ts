/**
 * The fields of a JSON Schema object as table rows, for requests and responses.
 *
 * A worker in another language sends any JSON as its schema, so nothing here trusts the shape of it.
 */
import { isMap, type JsonSchema } from '#contract';

export interface SchemaField {
  name: string;
  type: string;
  isRequired: boolean;
  /** Default as JSON; absent when the field has none. */
  default?: string;
  description: string;
}

/** Types nested deeper than this are shown as `any`. */
const DEEPEST = 16;

export function schemaFields(schema: JsonSchema | undefined): SchemaField[] {
  const root = schemaOf(schema);
  const required = new Set(Array.isArray(root.required) ? root.required : []);
  return Object.entries(schemaOf(root.properties)).map(([name, value]) => {
    const property = schemaOf(value);
    return {
      name,
      type: typeName(property, root, 0),
      isRequired: required.has(name),
      ...('default' in property ? { default: JSON.stringify(property.default) } : {}),
      description: typeof property.description === 'string' ? property.description : '',
    };
  });
}

/** One type in words: `string`, `uint32 or null`, `DirEntry[]`, `"a" or "b"`. */
function typeName(value: unknown, root: JsonSchema, depth: number): string {
  const schema = schemaOf(value);
  if (depth > DEEPEST) return 'any';
  if (typeof schema.$ref === 'string') return refName(schema.$ref, root, depth);
  if (Array.isArray(schema.enum)) return schema.enum.map((item) => JSON.stringify(item)).join(' or ');
  if ('const' in schema) return JSON.stringify(schema.const);
  const variants = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (Array.isArray(variants)) return variants.map((variant) => typeName(variant, root, depth + 1)).join(' or ');
  const types = [schema.type].flat().filter((type) => typeof type === 'string');
  return types.map((type) => plainTypeName(type, schema, root, depth)).join(' or ') || 'any';
}

function plainTypeName(type: string, schema: JsonSchema, root: JsonSchema, depth: number): string {
  if (type === 'array') return `${typeName(schema.items, root, depth + 1)}[]`;
  if (type === 'integer' && typeof schema.format === 'string') return schema.format;
  return type;
}

function refName(ref: string, root: JsonSchema, depth: number): string {
  const name = ref.split('/').at(-1) ?? ref;
  const target = schemaOf(definitionsOf(root)[name]);
  return Array.isArray(target.enum) ? typeName(target, root, depth + 1) : name;
}

/** The named shapes that have fields; each variant of a choice is listed by itself, as `UpdateOp "insert"`. */
export function namedShapes(schema: JsonSchema | undefined): { name: string; shape: JsonSchema }[] {
  const definitions = definitionsOf(schema);
  return Object.entries(definitions).flatMap(([name, value]) => {
    const definition = schemaOf(value);
    const variants = Array.isArray(definition.oneOf) ? definition.oneOf.map(schemaOf) : [definition];
    return variants.map((variant) => ({
      name: variant === definition ? name : `${name} ${tagOf(variant)}`.trimEnd(),
      shape: { ...variant, definitions },
    }));
  });
}

/** The label of a variant: the constant value of its first such field. */
function tagOf(variant: JsonSchema): string {
  const fields = Object.values(schemaOf(variant.properties)).map(schemaOf);
  const tags = fields.map((field): unknown =>
    Array.isArray(field.enum) && field.enum.length === 1 ? field.enum[0] : field.const,
  );
  const tag = tags.find((value) => value !== undefined);
  return tag === undefined ? '' : JSON.stringify(tag);
}

/** The named shapes of a schema, under the name of either draft. */
function definitionsOf(schema: JsonSchema | undefined): JsonSchema {
  const root = schemaOf(schema);
  return { ...schemaOf(root.definitions), ...schemaOf(root.$defs) };
}

/** A schema as an object; `true` and invalid schemas count as empty. */
function schemaOf(value: unknown): JsonSchema {
  return isMap(value) ? value : {};
}
