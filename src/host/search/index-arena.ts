/**
 * File contents kept in WebAssembly memory, one after the other, each with its signatures.
 *
 * A signature has a bit for every three bytes that follow each other, so that most texts without what is searched
 * for need not be looked through, nor read if they did not fit. A changed file is put at the end and leaves a hole;
 * when holes are a quarter of it, everything moves together.
 */
import type { IndexedFile } from './index-tree.ts';
import { TextMemory, TEXT_START } from './text-memory.ts';

/** Between texts, so that the kernels may read past an end. */
const GAP_BYTES = 32;

/** A signature of 4096 bits has room for the different trigrams of about this much source. */
const CHUNK_BYTES = 65_536;
export const SIGNATURE_BYTES = 512;
const SIGNATURE_SHIFT = 32 - Math.log2(SIGNATURE_BYTES * 8);

/** What a chunk shares with the next: a needle across the border is in one of them, if it is not longer. */
export const MAX_SIGNED_NEEDLE = 512;

/** Of the budget; the rest is for signatures. */
const TEXT_SHARE = 0.75;
const MIN_HOLES = 16 * 2 ** 20;

/** Looking through a smaller text costs no more than its signature. */
const MIN_SIGNED_BYTES = 1024;

export class Arena {
  readonly memory = new TextMemory();
  readonly #budget: number;
  #textBytes = 0;
  #signatureBytes = 0;
  #holes = 0;

  constructor(budgetBytes: number) {
    this.#budget = budgetBytes;
  }

  /** Where the next text is to be read to. */
  get top(): number {
    return this.memory.keptEnd;
  }

  /** Whether there was a text that did not fit. */
  hasUnkept = false;

  /** Keeps the text that was read to `top` and its signatures, or only these, or nothing. */
  keep(file: IndexedFile, text: { start: number; end: number }): void {
    const length = text.end - text.start;
    file.hasCaseStrangers = this.memory.kernels.hasCaseStrangers(text.start, length) !== 0;
    const keepsText = this.#textBytes + length <= this.#budget * TEXT_SHARE;
    if (keepsText) {
      file.text = text;
      this.#textBytes += length + GAP_BYTES;
      this.memory.keptEnd = text.end + GAP_BYTES;
    } else {
      this.hasUnkept = true;
    }
    const size = signatureSize(length);
    if (this.#signatureBytes + size > this.#budget * (1 - TEXT_SHARE)) return;
    if (keepsText && length < MIN_SIGNED_BYTES) return;
    this.#sign(file, text, size);
  }

  /** Gives up what is kept of a file. */
  release(file: IndexedFile): void {
    if (file.text) {
      const size = file.text.end - file.text.start + GAP_BYTES;
      this.#textBytes -= size;
      this.#holes += size;
    }
    if (file.signatures) {
      const size = file.signatures.count * SIGNATURE_BYTES + GAP_BYTES;
      this.#signatureBytes -= size;
      this.#holes += size;
    }
    file.text = undefined;
    file.signatures = undefined;
  }

  get needsCompaction(): boolean {
    return this.#holes > MIN_HOLES && this.#holes * 4 > this.top - TEXT_START;
  }

  /** Moves everything that is kept together. */
  compact(files: Iterable<IndexedFile>): void {
    let top = TEXT_START;
    for (const piece of [...files].flatMap(piecesOf).sort((a, b) => a.start - b.start)) {
      this.memory.buffer.copyWithin(top, piece.start, piece.start + piece.length);
      piece.moveTo(top);
      top += piece.length + GAP_BYTES;
    }
    this.memory.keptEnd = top;
    this.#holes = 0;
  }

  /** Whether a file may hold the needle whose signature is at `wanted`. */
  mayHold({ signatures }: IndexedFile, wanted: number): boolean {
    if (!signatures) return true;
    for (let i = 0; i < signatures.count; i++) {
      const signature = signatures.start + i * SIGNATURE_BYTES;
      if (this.memory.kernels.hasAllBits(signature, wanted, SIGNATURE_BYTES)) return true;
    }
    return false;
  }

  /** Puts the signature of bytes in memory at an address. */
  sign(start: number, length: number, signature: number): void {
    this.memory.buffer.fill(0, signature, signature + SIGNATURE_BYTES);
    this.memory.kernels.addTrigrams(start, length, signature, SIGNATURE_SHIFT);
  }

  #sign(file: IndexedFile, text: { start: number; end: number }, size: number): void {
    // Made behind the text, and moved over it if that is not kept.
    const made = text.end + GAP_BYTES;
    this.memory.reserve(made + size);
    for (let i = 0; i < size / SIGNATURE_BYTES; i++) {
      const from = text.start + i * CHUNK_BYTES;
      this.sign(from, Math.min(CHUNK_BYTES + MAX_SIGNED_NEEDLE, text.end - from), made + i * SIGNATURE_BYTES);
    }
    const start = file.text ? made : text.start;
    this.memory.buffer.copyWithin(start, made, made + size);
    file.signatures = { start, count: size / SIGNATURE_BYTES };
    this.#signatureBytes += size + GAP_BYTES;
    this.memory.keptEnd = start + size + GAP_BYTES;
  }
}

interface Piece {
  start: number;
  length: number;
  moveTo(start: number): void;
}

function piecesOf(file: IndexedFile): Piece[] {
  const { text, signatures } = file;
  const pieces: Piece[] = [];
  if (text) {
    const length = text.end - text.start;
    pieces.push({ start: text.start, length, moveTo: (start) => (file.text = { start, end: start + length }) });
  }
  if (signatures) {
    const { count } = signatures;
    const length = count * SIGNATURE_BYTES;
    pieces.push({ start: signatures.start, length, moveTo: (start) => (file.signatures = { start, count }) });
  }
  return pieces;
}

function signatureSize(length: number): number {
  return Math.max(1, Math.ceil(length / CHUNK_BYTES)) * SIGNATURE_BYTES;
}
