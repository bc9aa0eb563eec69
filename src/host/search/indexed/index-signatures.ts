/**
 * Decides which texts may contain a needle by their trigrams, without reading the texts.
 *
 * Each chunk of text, a document, has a signature: a bit for every three consecutive bytes. Signatures are stored bit
 * by bit, all texts side by side, so that a needle reads a few rows and not every text.
 */
import { kernelsOn, newMemory, PAGE_BYTES, type Kernels, type WasmMemory } from '../../kernels/index.ts';
import type { TextRange } from '../match/lines.ts';
import { TEXT_START, type TextMemory } from '../match/text-memory.ts';

/** A signature of this many bits has room for the distinct trigrams of `CHUNK_BYTES` of source. */
const BITS = 4096;
const SIGNATURE_BYTES = BITS / 8;
const SHIFT = 32 - Math.log2(BITS);
const CHUNK_BYTES = 32_768;

/** Overlap of consecutive chunks: a needle across the border is whole in one of them, if it is not longer. */
export const MAX_SIGNED_NEEDLE = 512;

const COLUMNS = 128;
const BLOCK_BYTES = (BITS * COLUMNS) / 8;

/** Signatures are computed here, in the memory of the text, after all needles. */
const MADE_AT = TEXT_START - SIGNATURE_BYTES;

// Offsets in the wasm memory that holds the signature blocks.
const SIGNATURE_AT = 1024;
const NEEDLE_AT = 4096;
const ROWS_AT = 8192;
const SET_AT = PAGE_BYTES;
const BLOCKS_AT = 4 * PAGE_BYTES;
const MAX_BLOCKS = (BLOCKS_AT - SET_AT) / 16;

const NO_FILE = -1;

export class Signatures {
  /** Smallest useful size. */
  static readonly MIN_BYTES = BLOCK_BYTES;

  readonly #memory: WasmMemory = newMemory(BLOCKS_AT / PAGE_BYTES);
  readonly #kernels: Kernels = kernelsOn(this.#memory);
  readonly #maxDocuments: number;
  #buffer = Buffer.from(this.#memory.buffer);
  /** The file of each document. */
  readonly #slots: number[] = [];
  readonly #free: number[] = [];
  #blockCount = 0;

  constructor(budgetBytes: number) {
    this.#maxDocuments = Math.min(Math.floor(budgetBytes / BLOCK_BYTES), MAX_BLOCKS) * COLUMNS;
  }

  /** Signs a text of a file; undefined when there is no room. */
  add(slot: number, memory: TextMemory, { start, end }: TextRange): number[] | undefined {
    const count = Math.ceil((end - start) / CHUNK_BYTES);
    if (this.#slots.length - this.#free.length + count > this.#maxDocuments) return undefined;
    return Array.from({ length: count }, (_, i) => {
      const from = start + i * CHUNK_BYTES;
      const length = Math.min(CHUNK_BYTES + MAX_SIGNED_NEEDLE, end - from);
      memory.buffer.fill(0, MADE_AT, MADE_AT + SIGNATURE_BYTES);
      memory.kernels.addTrigrams(from, length, MADE_AT, SHIFT);
      return this.#addDocument(slot, memory.buffer.subarray(MADE_AT, MADE_AT + SIGNATURE_BYTES));
    });
  }

  release(documents: readonly number[]): void {
    for (const document of documents) {
      this.#slots[document] = NO_FILE;
      this.#free.push(document);
    }
  }

  /**
   * Marks every signed file, of the first `fileCount`, that may contain a needle of each set: in any document, because
   * matches may lie in two. No needle is longer than `MAX_SIGNED_NEEDLE`.
   */
  mark(sets: readonly (readonly Uint8Array[])[], fileCount: number): Uint8Array {
    const [first, ...others] = sets.map((needles) => this.#markAny(needles, new Uint8Array(fileCount)));
    for (const marks of others) for (let slot = 0; slot < fileCount; slot++) first![slot]! &= marks[slot]!;
    return first!;
  }

  #markAny(needles: readonly Uint8Array[], marks: Uint8Array): Uint8Array {
    const set = this.#buffer.subarray(SET_AT, SET_AT + this.#blockCount * 16);
    set.fill(0);
    for (const needle of needles) {
      const rows = this.#rowsOf(needle);
      new Uint32Array(this.#memory.buffer, ROWS_AT, rows.length).set(rows);
      this.#kernels.addColumns(BLOCKS_AT, this.#blockCount, BLOCK_BYTES, ROWS_AT, rows.length, SET_AT);
    }
    for (let at = 0; at < set.length; at++) {
      for (let bits = set[at]!; bits !== 0; bits &= bits - 1) {
        const slot = this.#slots[8 * at + 31 - Math.clz32(bits & -bits)] ?? NO_FILE;
        if (slot !== NO_FILE) marks[slot] = 1;
      }
    }
    return marks;
  }

  #addDocument(slot: number, signature: Uint8Array): number {
    const document = this.#free.pop() ?? this.#slots.push(NO_FILE) - 1;
    this.#slots[document] = slot;
    const block = Math.floor(document / COLUMNS);
    if (block === this.#blockCount) this.#addBlock();
    this.#buffer.set(signature, SIGNATURE_AT);
    this.#kernels.setColumn(BLOCKS_AT + block * BLOCK_BYTES, document % COLUMNS, SIGNATURE_AT, BITS);
    return document;
  }

  #addBlock(): void {
    this.#memory.grow(BLOCK_BYTES / PAGE_BYTES);
    this.#buffer = Buffer.from(this.#memory.buffer);
    this.#blockCount++;
  }

  #rowsOf(needle: Uint8Array): number[] {
    this.#buffer.set(needle, NEEDLE_AT);
    this.#buffer.fill(0, SIGNATURE_AT, SIGNATURE_AT + SIGNATURE_BYTES);
    this.#kernels.addTrigrams(NEEDLE_AT, needle.length, SIGNATURE_AT, SHIFT);
    const rows: number[] = [];
    for (let row = 0; row < BITS; row++) {
      if ((this.#buffer[SIGNATURE_AT + (row >> 3)]! >> (row & 7)) & 1) rows.push(row);
    }
    return rows;
  }
}
