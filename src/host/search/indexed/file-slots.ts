/**
 * Per-file data that every search reads, in arrays indexed by the file's slot.
 *
 * A search passes a hundred thousand files in a fraction of a millisecond, which objects spread over memory do not
 * allow. A slot belongs to one path as long as the file exists.
 */
import type { IndexedFile } from './index-tree.ts';

export const TRAIT = {
  /** The file has other hard links, and inotify reports a write only under the name it was made through. */
  linked: 1,
  /** The text has a character beyond ASCII that equals an ASCII letter when case is ignored. */
  caseStrangers: 2,
  /** Its contents are unknown. */
  unsigned: 4,
} as const;

const FIRST_CAPACITY = 1024;

export class FileSlots {
  readonly files: (IndexedFile | undefined)[] = [];
  /** An `OUTCOME`: the result of a search that reads the file. */
  outcomes = new Uint8Array(FIRST_CAPACITY);
  traits = new Uint8Array(FIRST_CAPACITY);
  /** Address of its text; 0 for a file that must be read again. */
  textStarts = new Int32Array(FIRST_CAPACITY);
  textEnds = new Int32Array(FIRST_CAPACITY);
  readonly #free: number[] = [];

  /** Number of slots ever used. */
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
