/**
 * An object with one large field that is already JSON, so that those bytes go to the wire unchanged.
 *
 * Callers in this process get it decoded; only a surface that writes bytes itself asks for this form.
 */

/** One value in two forms. */
export interface EncodedJson<T> {
  decode(): T;
  json: readonly Uint8Array[];
}

export class EncodedObject<T extends object = object> {
  readonly #fields: T;
  readonly #field: string;
  readonly #encoded: EncodedJson<unknown>;
  #decoded: T | undefined;

  /** `fields` holds any value under the name of the field, which fixes its position. */
  constructor(fields: T, field: keyof T & string, encoded: EncodedJson<unknown>) {
    this.#fields = fields;
    this.#field = field;
    this.#encoded = encoded;
  }

  /** A field that is not encoded; undefined for the one that is. */
  peek(name: string): unknown {
    return name === this.#field ? undefined : (this.#fields as Record<string, unknown>)[name];
  }

  decode(): T {
    return (this.#decoded ??= { ...this.#fields, [this.#field]: this.#encoded.decode() });
  }

  toJSON(): T {
    return this.decode();
  }

  /** The bytes of `JSON.stringify` of the decoded object, in order. */
  parts(): Uint8Array[] {
    const parts: Uint8Array[] = [];
    let text = '{';
    for (const [name, value] of Object.entries(this.#fields)) {
      const key = `${text === '{' ? '' : ','}${JSON.stringify(name)}:`;
      if (name === this.#field) {
        parts.push(Buffer.from(text + key), ...this.#encoded.json);
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
