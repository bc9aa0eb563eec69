/**
 * Converts a JSON Schema to form fields.
 *
 * Any worker may publish any schema. An unsupported or deeply nested part becomes a field for raw JSON, so
 * that everything can be called.
 */
import { isObject, type JsonSchema } from '../loose-json.ts';

export type Field =
  | { kind: 'text'; isLong: boolean }
  | { kind: 'number'; isInteger: boolean }
  | { kind: 'boolean' }
  | { kind: 'choice'; values: unknown[] }
  | { kind: 'list'; item: Field }
  | { kind: 'object'; members: Member[] }
  | { kind: 'variant'; options: { label: string; field: Field }[] }
  | { kind: 'json' };

export interface Member {
  name: string;
  field: Field;
  isRequired: boolean;
  description?: string;
  /** Default when omitted. */
  fallback?: string;
}

const MAX_DEPTH = 6;
/** A recursive schema would grow with each level. */
const MAX_FIELDS = 1_000;
const MAX_VARIANTS = 8;
/** Fields whose text is usually multi-line. */
const LONG_NAMES = /content|code|script|body|stdin|_string$|^text$|replacement/;

export function fieldsOf(schema: JsonSchema | undefined): Field {
  if (!schema) return { kind: 'json' };
  return toField(schema, { root: schema, depth: 0, name: '', made: { fields: 0 } });
}

interface FieldContext {
  root: JsonSchema;
  depth: number;
  name: string;
  /** Counted over the whole form. */
  made: { fields: number };
}

function toField(given: JsonSchema, context: FieldContext): Field {
  const schema = resolve(given, context.root);
  context.made.fields += 1;
  if (context.depth > MAX_DEPTH || context.made.fields > MAX_FIELDS) return { kind: 'json' };
  if (Array.isArray(schema.enum)) return { kind: 'choice', values: schema.enum.filter((value) => value !== null) };
  if ('const' in schema) return { kind: 'choice', values: [schema.const] };

  const union = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(union)) return toVariant(union as JsonSchema[], context);
  switch (typeOf(schema)) {
    case 'string':
      return { kind: 'text', isLong: LONG_NAMES.test(context.name) };
    case 'integer':
      return { kind: 'number', isInteger: true };
    case 'number':
      return { kind: 'number', isInteger: false };
    case 'boolean':
      return { kind: 'boolean' };
    case 'array':
      return toList(schema, context);
    case 'object':
      return toObject(schema, context);
    default:
      return { kind: 'json' };
  }
}

function toList(schema: JsonSchema, context: FieldContext): Field {
  if (!isObject(schema.items)) return { kind: 'json' };
  return { kind: 'list', item: toField(schema.items, { ...context, depth: context.depth + 1 }) };
}

function toObject(schema: JsonSchema, context: FieldContext): Field {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>);
  // A map: the caller chooses its keys.
  if (properties.length === 0 && isObject(schema.additionalProperties)) return { kind: 'json' };

  const required = Array.isArray(schema.required) ? schema.required : [];
  const members = properties.map(([name, property]): Member => {
    const { description, default: fallback } = resolve(property, context.root);
    return {
      name,
      field: toField(property, { ...context, depth: context.depth + 1, name }),
      isRequired: required.includes(name),
      ...(typeof description === 'string' && { description }),
      ...(fallback != null && fallback !== '' && { fallback: JSON.stringify(fallback) }),
    };
  });
  return { kind: 'object', members: members.toSorted((a, b) => Number(b.isRequired) - Number(a.isRequired)) };
}

function toVariant(union: JsonSchema[], context: FieldContext): Field {
  const schemas = union.map((one) => resolve(one, context.root)).filter((one) => one.type !== 'null');
  const [only] = schemas;
  if (only && schemas.length === 1) return toField(only, context);

  const fields = schemas.map((one) => toField(one, { ...context, depth: context.depth + 1 }));
  if (fields.every((field) => field.kind === 'choice')) {
    return { kind: 'choice', values: fields.flatMap((field) => (field.kind === 'choice' ? field.values : [])) };
  }
  if (fields.length === 0 || fields.length > MAX_VARIANTS) return { kind: 'json' };
  return { kind: 'variant', options: fields.map((field, at) => ({ label: labelOf(field, schemas[at]), field })) };
}

/** A choice as shown. An object from a peer may have no text of its own. */
export function choiceText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The tag of a tagged object, else its type. */
function labelOf(field: Field, schema: JsonSchema | undefined): string {
  if (field.kind === 'object') {
    const tag = field.members.find((member) => member.field.kind === 'choice' && member.field.values.length === 1);
    if (tag?.field.kind === 'choice') return choiceText(tag.field.values[0]);
  }
  if (typeof schema?.title === 'string') return schema.title;
  return field.kind;
}

/** Resolves references and merges the keywords beside them: the outer ones win. `true` is a schema too. */
function resolve(schema: JsonSchema, root: JsonSchema): JsonSchema {
  let found = isObject(schema) ? schema : {};
  for (let hops = 0; hops < MAX_DEPTH; hops += 1) {
    const { $ref: ref, allOf, ...rest } = found;
    const parts = Array.isArray(allOf) ? (allOf as JsonSchema[]) : [];
    if (typeof ref === 'string') found = { ...lookUp(ref, root), ...rest };
    else if (parts.length === 1) found = { ...parts[0], ...rest };
    else return found;
  }
  return {};
}

function lookUp(ref: string, root: JsonSchema): JsonSchema {
  if (!ref.startsWith('#/')) return {};
  let found: unknown = root;
  for (const name of ref.slice(2).split('/')) {
    found = isObject(found) ? found[name.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined;
  }
  return isObject(found) ? found : {};
}

function typeOf({ type, properties }: JsonSchema): unknown {
  if (!Array.isArray(type)) return type ?? (properties ? 'object' : undefined);
  const types = type.filter((name) => name !== 'null');
  return types.length === 1 ? types[0] : undefined;
}
