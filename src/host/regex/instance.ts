/**
 * One pattern compiled in a wasm instance of its own: the crate's functions over bytes.
 *
 * Haystacks must be valid UTF-8; the crate does not check.
 */
import type { Hir } from 'rregex';

import { Glue } from './glue.ts';

export class Instance {
  readonly #glue = new Glue();
  readonly #regex: number;

  /** Throws `RustError` when the pattern does not compile. */
  constructor(pattern: string) {
    const bytes = Buffer.from(pattern);
    const result = this.#glue.wasm.rregex_new(this.#glue.put(bytes), bytes.length);
    const [pointer, , isError] = result;
    if (isError) this.#glue.take(result);
    this.#regex = pointer >>> 0;
  }

  get memoryBytes(): number {
    return this.#glue.wasm.memory.buffer.byteLength;
  }

  get groupNames(): (string | undefined)[] {
    const { wasm } = this.#glue;
    const [pointer, length] = wasm.rregex_captureNames(this.#regex);
    const indexes = this.#glue.view(pointer, length * 4);
    const names = Array.from({ length }, (_, i) => wasm.__wbindgen_export_2.get(indexes.readUInt32LE(i * 4)));
    wasm.__externref_drop_slice(pointer, length);
    wasm.__wbindgen_free(pointer, length * 4, 4);
    return names.map((name) => (name as string | null) ?? undefined);
  }

  /** The pattern as the crate parsed it. */
  get syntax(): Hir {
    return this.#glue.take(this.#glue.wasm.rregex_syntax(this.#regex)) as Hir;
  }

  isMatch(haystack: Uint8Array): boolean {
    return this.#glue.wasm.rregex_isMatch(this.#regex, this.#glue.put(haystack), haystack.length) !== 0;
  }

  /** Start and end of the first match at or after `from`; empty if there is none. */
  findAt(haystack: Uint8Array, from: number): number[] {
    const { wasm } = this.#glue;
    const pointer = this.#glue.put(haystack);
    return this.#glue.collect(() => wasm.rregex_findAt(this.#regex, pointer, haystack.length, from));
  }

  /** Start and end of every match; `edit` may change the copy that is searched. */
  findAll(haystack: Uint8Array, edit?: (copy: Buffer) => void): number[] {
    const { wasm } = this.#glue;
    const pointer = this.#glue.put(haystack);
    edit?.(this.#glue.view(pointer, haystack.length));
    return this.#glue.collect(() => wasm.rregex_findAll(this.#regex, pointer, haystack.length));
  }

  /** Replaces the first `limit` matches, or all for 0; `read` gets the result, which is valid only during the call. */
  replace<T>(haystack: Uint8Array, template: Uint8Array, limit: number, read: (result: Buffer) => T): T {
    const { wasm } = this.#glue;
    const [pointer, length] = wasm.rregex_replacen(
      this.#regex,
      this.#glue.put(haystack),
      haystack.length,
      limit,
      this.#glue.put(template),
      template.length,
    );
    const value = read(this.#glue.view(pointer, length));
    wasm.__wbindgen_free(pointer, length, 1);
    return value;
  }
}
