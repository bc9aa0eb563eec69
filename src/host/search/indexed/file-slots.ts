/**
 * What a search asks of every file, by the number of the file, in arrays.
 *
 * A search passes a hundred thousand files in a fraction of a millisecond, which objects spread over the memory do
 * not allow. A number belongs to one path for as long as the file is there.
 */
import type { IndexedFile } from './index-tree.ts';

export const TRAIT = {
  /** It has other names, and what is written through them is not announced under this one. */
  linked: 1,
  /** ASCII letters may stand for something in it when case is ignored. */
  caseStrangers: 2,
  /** Nothing is known of what it holds. */
  unsigned: 4,
} as const;

const FIRST_CAPACITY = 1024;

export class FileSlots {
  readonly files: (IndexedFile | undefined)[] = [];
  /** Of `OUTCOME`: what a search that reads it would say. */
  outcomes = new Uint8Array(FIRST_CAPACITY);
  traits = new Uint8Array(FIRST_CAPACITY);
  /** Where its text is kept; 0 for what must be read again. */
  textStarts = new Int32Array(FIRST_CAPACITY);
  textEnds = new Int32Array(FIRST_CAPACITY);
  readonly #free: number[] = [];

  /** Slots that were ever used. */
  get length(): number {
    return this.files.length;
  }

  get fileCount(): number {
    return this.files.length - this.#free.length;
  }

  take(): number {
    const slot = this.#free.pop() ?? this.files.push(undefined) - 1;
    if (slot >= this.outcomes.length) this.#grow();
    this.clear(slot);
    return slot;
  }

  release(slot: number): void {
    this.clear(slot);
    this.files[slot] = undefined;
    this.#free.push(slot);
  }

  clear(slot: number): void {
    this.outcomes[slot] = 0;
    this.traits[slot] = 0;
    this.textStarts[slot] = 0;
    this.textEnds[slot] = 0;
  }

  has(slot: number, trait: number): boolean {
    return (this.traits[slot]! & trait) !== 0;
  }

  #grow(): void {
    const capacity = 2 * this.outcomes.length;
    this.outcomes = grown(this.outcomes, new Uint8Array(capacity));
    this.traits = grown(this.traits, new Uint8Array(capacity));
    this.textStarts = grown(this.textStarts, new Int32Array(capacity));
    this.textEnds = grown(this.textEnds, new Int32Array(capacity));
  }
}

function grown<T extends Uint8Array | Int32Array>(from: T, to: T): T {
  to.set(from);
  return to;
}
