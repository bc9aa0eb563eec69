/**
 * The wasm kernels, instantiated on the caller's memory.
 *
 * Each thread compiles the module once; an instance on another memory is cheap.
 */
import { readFileSync } from 'node:fs';

/** `kernels.as` documents each. Positions are relative to `at`, or -1. */
export interface Kernels {
  find(at: number, length: number, needle: number, needleLength: number, probeA: number, probeB: number): number;
  findFolded(at: number, length: number, needle: number, needleLength: number, probeA: number, probeB: number): number;
  findRun(at: number, length: number, tables: number, offsets: number, count: number, span: number): number;
  findLines(
    at: number,
    length: number,
    needle: number,
    needleLength: number,
    probeA: number,
    probeB: number,
    isFolded: boolean,
    to: number,
    max: number,
  ): number;
  writeLines(
    rows: number,
    count: number,
    from: number,
    line: number,
    maxLineBytes: number,
    head: number,
    headLength: number,
    to: number,
    room: number,
  ): number;
  countNewlines(at: number, length: number): number;
  nextNewline(at: number, length: number): number;
  lastNewline(at: number, length: number): number;
  hasNul(at: number, length: number): number;
  hasCaseStrangers(at: number, length: number): number;
  addTrigrams(at: number, length: number, signature: number, shift: number): void;
  setColumn(block: number, column: number, signature: number, bits: number): void;
  addColumns(
    blocks: number,
    blockCount: number,
    blockBytes: number,
    rows: number,
    rowCount: number,
    columns: number,
  ): void;
  escapeJson(at: number, length: number, to: number): number;
}

export const PAGE_BYTES = 65_536;

export interface WasmMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

// The types for Node 20 lack the global.
interface WasmApi {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object, imports: Record<string, object>) => { exports: unknown };
  Memory: new (limits: { initial: number; maximum?: number }) => WasmMemory;
}

const { WebAssembly } = globalThis as unknown as { WebAssembly: WasmApi };

let compiled: object | undefined;

export function newMemory(pages: number): WasmMemory {
  return new WebAssembly.Memory({ initial: pages });
}

export function kernelsOn(memory: WasmMemory): Kernels {
  compiled ??= new WebAssembly.Module(readFileSync(new URL('./kernels.wasm', import.meta.url)));
  return new WebAssembly.Instance(compiled, { env: { memory } }).exports as Kernels;
}
