/**
 * An object with one large field that is at hand as JSON already, so that it goes to the wire as those bytes.
 *
 * Callers in this process get it decoded; only a door that writes bytes itself asks for it as it is.
 */

/** One value in two forms. */
export interface HeldJson<T> {
  decode(): T;
  json: readonly Uint8Array[];
}

export class EncodedObject<T extends object = object> {
  readonly #fields: T;
  readonly #field: string;
  readonly #held: HeldJson<unknown>;
  #decoded: T | undefined;

  /** `fields` holds anything under the name of the field, which keeps its place among the others. */
  constructor(fields: T, field: keyof T & string, held: HeldJson<unknown>) {
    this.#fields = fields;
    this.#field = field;
    this.#held = held;
  }

  decode(): T {
    return (this.#decoded ??= { ...this.#fields, [this.#field]: this.#held.decode() });
  }

  toJSON(): T {
    return this.decode();
  }

  /** The bytes that `JSON.stringify` of the decoded object would lead to, in order. */
  parts(): Uint8Array[] {
    const parts: Uint8Array[] = [];
    let text = '{';
    for (const [name, value] of Object.entries(this.#fields)) {
      const key = `${text === '{' ? '' : ','}${JSON.stringify(name)}:`;
      if (name === this.#field) {
        parts.push(Buffer.from(text + key), ...this.#held.json);
        text = '';
      } else {
        const json: string | undefined = JSON.stringify(value);
        if (json !== undefined) text += key + json;
      }
    }
    return [...parts, Buffer.from(`${text}}`)];
  }
}

export function decoded(value: unknown): unknown {
  return value instanceof EncodedObject ? value.decode() : value;
}
