/**
 * Contents and signatures of files in WebAssembly memory, one after the other.
 *
 * A changed file is appended and leaves a hole; when holes are a quarter of the memory, it is compacted.
 */
import { TRAIT, type FileSlots } from './file-slots.ts';
import type { IndexData } from './index-messages.ts';
import { Signatures } from './index-signatures.ts';
import type { IndexedFile } from './index-tree.ts';
import type { TextRange } from '../match/lines.ts';
import { TextMemory, TEXT_START } from '../match/text-memory.ts';

/** Between texts, so that the kernels may read past an end. */
const GAP_BYTES = 32;

/** Share of the budget; the rest is for signatures. */
const TEXT_SHARE = 0.75;
const MIN_HOLES = 16 * 2 ** 20;

type ArenaBounds = Pick<IndexData, 'budgetBytes' | 'partCount' | 'keptBytes'>;

export class Arena {
  readonly memory = new TextMemory();
  readonly signatures: Signatures;
  readonly #slots: FileSlots;
  readonly #maxTextBytes: number;
  /** Files whose texts are kept and not signed yet. */
  readonly #unsigned = new Set<IndexedFile>();
  readonly #keptBytes: Int32Array;
  #holes = 0;

  constructor(slots: FileSlots, { budgetBytes, partCount, keptBytes }: ArenaBounds) {
    this.#slots = slots;
    const signatureBytes = Math.max(budgetBytes * (1 - TEXT_SHARE), Signatures.MIN_BYTES);
    this.#maxTextBytes = budgetBytes - signatureBytes;
    this.#keptBytes = keptBytes;
    this.signatures = new Signatures(Math.max(signatureBytes / partCount, Signatures.MIN_BYTES));
  }

  /** Address to read the next text to. */
  get top(): number {
    return this.memory.keptEnd;
  }

  /** Whether there was a text that did not fit. */
  hasUnkept = false;

  /**
   * Keeps the text that was read to `top`, or else its signatures, or nothing. A kept text can be searched at once, and
   * is signed later: signing takes longer than reading.
   */
  keep(file: IndexedFile, text: TextRange): void {
    const { slot } = file;
    const length = text.end - text.start;
    if (this.memory.kernels.hasCaseStrangers(text.start, length)) this.#slots.traits[slot]! |= TRAIT.caseStrangers;
    if (Atomics.load(this.#keptBytes, 0) + length > this.#maxTextBytes) {
      this.hasUnkept = true;
      this.#sign(file, text);
      return;
    }
    this.#slots.traits[slot]! |= TRAIT.unsigned;
    this.#unsigned.add(file);
    this.#slots.textStarts[slot] = text.start;
    this.#slots.textEnds[slot] = text.end;
    Atomics.add(this.#keptBytes, 0, length + GAP_BYTES);
    this.memory.keptEnd = text.end + GAP_BYTES;
  }

  /** Signs texts until `isOver`; returns whether all are signed. */
  signSome(isOver: () => boolean): boolean {
    for (const file of this.#unsigned) {
      if (isOver()) return false;
      this.#unsigned.delete(file);
      this.#sign(file, { start: this.#slots.textStarts[file.slot]!, end: this.#slots.textEnds[file.slot]! });
    }
    return true;
  }

  #sign(file: IndexedFile, text: TextRange): void {
    file.documents = this.signatures.add(file.slot, this.memory, text);
    if (file.documents) this.#slots.traits[file.slot]! &= ~TRAIT.unsigned;
    else this.#slots.traits[file.slot]! |= TRAIT.unsigned;
  }

  /** Frees the memory of a file. */
  release(file: IndexedFile): void {
    const { slot } = file;
    this.#unsigned.delete(file);
    const start = this.#slots.textStarts[slot]!;
    if (start > 0) {
      const size = this.#slots.textEnds[slot]! - start + GAP_BYTES;
      Atomics.sub(this.#keptBytes, 0, size);
      this.#holes += size;
    }
    this.signatures.release(file.documents ?? []);
    file.documents = undefined;
    this.#slots.clear(slot);
  }

  get needsCompaction(): boolean {
    return this.#holes > MIN_HOLES && this.#holes * 4 > this.top - TEXT_START;
  }

  /** Moves all texts together. */
  compact(): void {
    const { textStarts, textEnds, length } = this.#slots;
    const kept = Array.from({ length }, (_, slot) => slot).filter((slot) => textStarts[slot]! > 0);
    let top = TEXT_START;
    for (const slot of kept.sort((a, b) => textStarts[a]! - textStarts[b]!)) {
      const [start, end] = [textStarts[slot]!, textEnds[slot]!];
      this.memory.buffer.copyWithin(top, start, end);
      textStarts[slot] = top;
      textEnds[slot] = top + end - start;
      top = textEnds[slot] + GAP_BYTES;
    }
    this.memory.keptEnd = top;
    this.#holes = 0;
  }
}
