/**
 * Instantiates the wasm, with the glue that wasm-bindgen would generate: memory for bytes, a table for values.
 *
 * The crate returns matches by building JavaScript objects through the imports. Only the offsets are wanted, so during
 * a search the imports collect numbers and build nothing; a match of 100 MB never becomes a string.
 */
import { regexModule, WebAssembly, type WasmMemory, type WasmTable } from './wasm-module.ts';

export interface Exports {
  memory: WasmMemory;
  /** Table of the JavaScript values that wasm holds. */
  __wbindgen_export_2: WasmTable;
  __wbindgen_start(): void;
  __wbindgen_malloc(size: number, align: number): number;
  __wbindgen_free(pointer: number, size: number, align: number): void;
  __externref_table_dealloc(index: number): void;
  __externref_drop_slice(pointer: number, length: number): void;
  rregex_new(pattern: number, length: number): Result;
  rregex_syntax(regex: number): Result;
  rregex_captureNames(regex: number): Slice;
  rregex_isMatch(regex: number, haystack: number, length: number): number;
  rregex_findAt(regex: number, haystack: number, length: number, from: number): Result;
  rregex_findAll(regex: number, haystack: number, length: number): Result;
  rregex_replacen(
    regex: number,
    haystack: number,
    length: number,
    limit: number,
    template: number,
    templateLength: number,
  ): Slice;
}

export type Result = [value: number, error: number, isError: number];
type Slice = [pointer: number, length: number];

/** The crate's message about a pattern it refuses. */
export class RustError extends Error {}

export class Glue {
  readonly wasm: Exports;
  /** Below: the crate's own strings. Above: memory that it allocates. */
  readonly #heapStart: number;
  #memory: Buffer;
  /** Matches of the running search: start, end, start, end. */
  #offsets: number[] | undefined;

  constructor() {
    const instance = new WebAssembly.Instance(regexModule(), { wbg: this.#imports() });
    this.wasm = instance.exports as Exports;
    this.#memory = Buffer.from(this.wasm.memory.buffer);
    this.#heapStart = this.#memory.length;
    this.wasm.__wbindgen_start();
  }

  /** Copies bytes to wasm memory; the call that receives them frees them. */
  put(bytes: Uint8Array): number {
    const pointer = this.wasm.__wbindgen_malloc(bytes.length, 1) >>> 0;
    this.#refresh().set(bytes, pointer);
    return pointer;
  }

  /** Bytes in wasm memory, valid until the next call. */
  view(pointer: number, length: number): Buffer {
    const start = pointer >>> 0;
    return this.#refresh().subarray(start, start + length);
  }

  /** Takes a result's value out of the table. */
  take([value, error, isError]: Result): unknown {
    const index = isError ? error : value;
    const taken = this.wasm.__wbindgen_export_2.get(index);
    this.wasm.__externref_table_dealloc(index);
    if (isError) throw taken;
    return taken;
  }

  /** The offsets that a search finds, instead of its value. */
  collect(search: () => Result): number[] {
    const offsets: number[] = (this.#offsets = []);
    const result = search();
    this.#offsets = undefined;
    this.take(result);
    return offsets;
  }

  /** Growing the memory detaches every view of it. */
  #refresh(): Buffer {
    if (this.#memory.buffer !== this.wasm.memory.buffer) this.#memory = Buffer.from(this.wasm.memory.buffer);
    return this.#memory;
  }

  /** Pieces of the haystack are not decoded; names of fields are, because the crate keeps them. */
  #string(pointer: number, length: number): string {
    const isPiece = this.#offsets !== undefined && pointer >>> 0 >= this.#heapStart;
    return isPiece ? '' : this.view(pointer, length).toString();
  }

  #number(value: number): number {
    this.#offsets?.push(value);
    return value;
  }

  #initTable(): void {
    const table = this.wasm.__wbindgen_export_2;
    table.set(0, undefined);
    const first = table.grow(4);
    [undefined, null, true, false].forEach((value, index) => table.set(first + index, value));
  }

  /** Named as in rregex 1.13.1; another version fails to link. */
  #imports(): Record<string, (...args: never[]) => unknown> {
    return {
      __wbindgen_init_externref_table: () => this.#initTable(),
      __wbindgen_memory: () => this.wasm.memory,
      __wbindgen_throw: (pointer: number, length: number) => {
        throw new Error(this.#string(pointer, length));
      },
      __wbindgen_error_new: (pointer: number, length: number) => new RustError(this.#string(pointer, length)),
      __wbindgen_string_new: (pointer: number, length: number) => this.#string(pointer, length),
      __wbindgen_number_new: (value: number) => this.#number(value),
      __wbg_new_405e22f390576ce2: () => (this.#offsets ? undefined : {}),
      __wbg_new_78feb108b6472713: () => (this.#offsets ? undefined : []),
      __wbg_set_3f1d0b984ed272ed: (object: Record<string, unknown> | undefined, key: string, value: unknown) => {
        if (object) object[key] = value;
      },
      __wbg_set_37837023f3d740e8: (array: unknown[] | undefined, index: number, value: unknown) => {
        if (array) array[index >>> 0] = value;
      },
      __wbg_fromCodePoint_f37c25c172f2e8b5: (code: number) => String.fromCodePoint(code >>> 0),
      __wbg_buffer_609cc3eee51ed158: (memory: WasmMemory) => memory.buffer,
      __wbg_newwithbyteoffsetandlength_d97e637ebe145a9a: (buffer: ArrayBuffer, start: number, length: number) =>
        new Uint8Array(buffer, start >>> 0, length >>> 0),
      __wbg_new_a12002a7f91c75be: (bytes: Uint8Array) => new Uint8Array(bytes),
      ...Object.fromEntries(UNUSED_IMPORTS.map((name) => [name, neverCalled])),
    };
  }
}

/** Imports of rregex functions that are never called here. */
const UNUSED_IMPORTS = [
  '__wbindgen_string_get',
  '__wbindgen_bigint_from_u64',
  '__wbg_push_737cfc8c1432c2c6',
  '__wbg_get_b9b93047fe3cf45b',
  '__wbg_from_2a5d3e218e67aa85',
  '__wbg_length_e2d2a49132c1b256',
  '__wbg_set_bb8cecf6a62b9f46',
];

function neverCalled(): never {
  throw new Error('rregex called an import that none of its functions used here needs');
}
