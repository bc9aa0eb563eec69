/**
 * The Rust regex crate as a WebAssembly module, compiled when the first pattern needs it.
 *
 * Only the .wasm of the package rregex is used: its JavaScript leaks and copies. The published file lets its memory
 * grow to 4 GiB, so a maximum is written into it before it is compiled.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/** Memory limit for one pattern and its haystack; about three times the largest haystack that can be rewritten. */
export const MAX_MEMORY_BYTES = 2 ** 30;

export interface WasmMemory {
  readonly buffer: ArrayBuffer;
}

export interface WasmTable {
  get(index: number): unknown;
  set(index: number, value: unknown): void;
  grow(by: number): number;
}

// The types for Node 20 lack the global.
interface WasmApi {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object, imports: Record<string, object>) => { exports: unknown };
  RuntimeError: new () => Error;
}

export const { WebAssembly } = globalThis as unknown as { WebAssembly: WasmApi };

export function regexModule(): object {
  return (compiled ??= new WebAssembly.Module(withMemoryLimit(readFileSync(wasmFile()), MAX_MEMORY_BYTES)));
}

let compiled: object | undefined;

function wasmFile(): string {
  const manifest = createRequire(import.meta.url).resolve('rregex/package.json');
  return join(manifest, '../lib/rregex.wasm');
}

const HEADER_BYTES = 8;
const MEMORY_SECTION = 5;
const PAGE_BYTES = 65_536;

/** Turns the memory section `one memory, no maximum, minimum` into `one memory, maximum, minimum, maximum`. */
function withMemoryLimit(wasm: Buffer, maxBytes: number): Buffer {
  for (let at = HEADER_BYTES; at < wasm.length;) {
    const [size, start] = readLeb(wasm, at + 1);
    const end = start + size;
    if (wasm[at] === MEMORY_SECTION && wasm[start] === 1 && wasm[start + 1] === 0) {
      const limits = [1, 1, ...wasm.subarray(start + 2, end), ...leb(maxBytes / PAGE_BYTES)];
      const section = Buffer.from([MEMORY_SECTION, limits.length, ...limits]);
      return Buffer.concat([wasm.subarray(0, at), section, wasm.subarray(end)]);
    }
    at = end;
  }
  throw new Error('rregex.wasm has no memory of its own without a maximum');
}

/** Reads an unsigned LEB128 number; returns its value and end. */
function readLeb(bytes: Buffer, start: number): [value: number, end: number] {
  let value = 0;
  for (let at = start; ; at++) {
    value += (bytes[at]! & 0x7f) * 2 ** (7 * (at - start));
    if (bytes[at]! < 0x80) return [value, at + 1];
  }
}

function leb(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...leb(value >>> 7)];
}
