/**
 * JSON of a value of which one large field is at hand as JSON already, so that it goes to the wire as those bytes.
 *
 * To everyone else such a value is an ordinary object: the field decodes itself when somebody reads it, once, and
 * becomes a plain field when somebody writes it. Then the bytes no longer count.
 */

/** One text in two forms. */
export interface HeldText {
  decode(): string;
  /** What stands between the quotes, in UTF-8. */
  json: readonly Uint8Array[];
}

/** One value in two forms. */
export interface HeldJson<T> {
  decode: () => T;
  json: readonly Uint8Array[];
}

/** JSON as text, or bytes of it that are at hand. */
type Part = string | readonly Uint8Array[];

const heldBy = new WeakMap<object, { field: string; read(): unknown; json: Part[] }>();

/** Gives a field of the object its text. The field keeps its place among the others. */
export function withText<T extends object>(object: T, field: keyof T & string, text: string | HeldText): T {
  if (typeof text === 'string') return Object.assign(object, { [field]: text });
  return hold(object, field, () => text.decode(), ['"', text.json, '"']);
}

/** The same for a value of any kind. */
export function withJson<T extends object, Field extends keyof T & string>(
  object: T,
  field: Field,
  { decode, json }: HeldJson<T[Field]>,
): T {
  return hold(object, field, decode, [json]);
}

function hold<T extends object>(object: T, field: string, decode: () => unknown, json: Part[]): T {
  let decoded: unknown;
  const read = () => (decoded ??= decode());
  heldBy.set(object, { field, read, json });
  return Object.defineProperty(object, field, {
    get: read,
    // Of whoever is written to: an object made from this one has a field of its own then.
    set(this: object, value: unknown) {
      Object.defineProperty(this, field, { value, writable: true, enumerable: true, configurable: true });
    },
    enumerable: true,
    configurable: true,
  });
}

/**
 * The bytes that JSON.stringify would lead to, in order; undefined where the holder has nothing at hand.
 *
 * The holder is the value or one of its fields: looking for one everywhere would cost more than it saves.
 */
export function jsonParts(value: unknown, holder: unknown = value): Uint8Array[] | undefined {
  if (!holdsJson(holder)) return undefined;

  const parts: Uint8Array[] = [];
  let text = '';
  for (const part of partsOf(value as object)) {
    if (typeof part === 'string') {
      text += part;
    } else {
      parts.push(Buffer.from(text), ...part);
      text = '';
    }
  }
  return [...parts, Buffer.from(text)];
}

function holdsJson(value: unknown): value is object {
  return heldBy.has(value as object);
}

function partsOf(object: object): Part[] {
  const parts: Part[] = ['{'];
  for (const name of Object.keys(object)) {
    const member = memberParts(object, name);
    if (member) parts.push(`${parts.length > 1 ? ',' : ''}${JSON.stringify(name)}:`, ...member);
  }
  return [...parts, '}'];
}

/** Undefined for what JSON leaves out. */
function memberParts(object: object, name: string): Part[] | undefined {
  const held = heldBy.get(object);
  if (held?.field === name && Object.getOwnPropertyDescriptor(object, name)?.get === held.read) {
    return held.json;
  }
  const value = (object as Record<string, unknown>)[name];
  if (holdsJson(value)) return partsOf(value);

  const json: string | undefined = JSON.stringify(value);
  return json === undefined ? undefined : [json];
}
