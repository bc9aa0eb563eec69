/**
 * WebAssembly memory for the text to search, and the kernels on it.
 *
 * Not a Buffer: the kernels can only read this memory, and a process with large Buffers forks slowly. The lowest bytes
 * are reserved for needles.
 */
import { kernelsOn, newMemory, PAGE_BYTES, type Kernels, type WasmMemory } from '../../kernels/index.ts';
import { MAX_PATTERN_BYTES } from '../query.ts';

/** Needles are stored below. */
export const TEXT_START = 2 * MAX_PATTERN_BYTES;

/** Each growth costs a garbage collection; unwritten pages take no memory. */
const MAX_GROWTH_BYTES = 256 * 2 ** 20;

/** The kernels read 32 bytes at a time, sometimes past the end of a text. */
const SLACK_BYTES = 64;
const GAP_BYTES = 64;

export class TextMemory {
  readonly kernels: Kernels;
  readonly #memory: WasmMemory;
  /** The object whose needles are in it. */
  user: object | undefined;
  /** Bytes below stay; bytes above may be overwritten at any time. */
  keptEnd = TEXT_START;
  #buffer: Buffer;
  #room: Buffer;

  constructor() {
    this.#memory = newMemory(Math.ceil(TEXT_START / PAGE_BYTES) + 3);
    this.kernels = kernelsOn(this.#memory);
    this.#buffer = Buffer.from(this.#memory.buffer);
    this.#room = this.#buffer;
  }

  /** All of the memory. A new object after `reserve`. */
  get buffer(): Buffer {
    return this.#buffer;
  }

  /** So many bytes from an address on. Returns the same object for the same arguments, which is cheaper. */
  room(start: number, length: number): Buffer {
    const room = this.#room;
    if (room.buffer === this.#buffer.buffer && room.byteOffset === start && room.length === length) return room;
    this.reserve(start + length);
    return (this.#room = this.#buffer.subarray(start, start + length));
  }

  /** Where a copy of a text that ends at `textEnd` may be put. */
  freeFrom(textEnd: number): number {
    return Math.max(textEnd, this.keptEnd);
  }

  /**
   * Room for rows of three numbers, and `moreBytes` after them, after a text that ends at `textEnd`; valid until
   * `reserve`.
   */
  rowsBehind(textEnd: number, count: number, { moreBytes = 0 } = {}): Uint32Array {
    const start = Math.ceil((this.freeFrom(textEnd) + GAP_BYTES) / 4) * 4;
    this.reserve(start + 12 * count + moreBytes);
    return new Uint32Array(this.#memory.buffer, start, 3 * count);
  }

  /** Grows the memory up to an address. */
  reserve(end: number): void {
    const missing = end + SLACK_BYTES - this.#buffer.length;
    if (missing <= 0) return;
    const growth = Math.max(missing, Math.min(this.#buffer.length, MAX_GROWTH_BYTES));
    this.#memory.grow(Math.ceil(growth / PAGE_BYTES));
    this.#buffer = Buffer.from(this.#memory.buffer);
  }
}
