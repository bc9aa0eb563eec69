/**
 * Files with several names, which every search reads: the kernel announces a write under the name it was made through only.
 *
 * A file that gets a second name keeps its first without any event there, so all known names are looked through then.
 */
import type { Stats } from 'node:fs';

import { TRAIT, type FileSlots } from './file-slots.ts';
import type { Arena } from './index-arena.ts';
import { IndexGivesUp } from './index-gives-up.ts';
import { NO_INODE, type IndexedFile } from './index-tree.ts';

/** Each is read in every search. */
const MAX_LINKED = 2000;

export class LinkedFiles {
  readonly #slots: FileSlots;
  readonly #arena: Arena;
  /** Met since names were last looked through. */
  readonly #inodes = new Set<number>();
  /** Of those, the ones not yet sent to the main thread. */
  #unsent: number[] = [];
  /** Of the file that was released last, if it had several names: the other parts know that. */
  #releasedInode = NO_INODE;
  #count = 0;

  constructor(slots: FileSlots, arena: Arena) {
    this.#slots = slots;
    this.#arena = arena;
  }

  /** Whether the file has several names. */
  note(file: IndexedFile, { ino, nlink }: Pick<Stats, 'ino' | 'nlink'>): boolean {
    file.inode = ino;
    if (nlink <= 1) return false;
    this.#inodes.add(ino);
    if (ino !== this.#releasedInode) this.#unsent.push(ino);
    return true;
  }

  /** These have names in other parts of the tree too. */
  add(inodes: readonly number[]): void {
    for (const inode of inodes) this.#inodes.add(inode);
    this.mark();
  }

  /** Those that were met since the last time. */
  takeUnsent(): number[] {
    return this.#unsent.splice(0);
  }

  /** Has every known name of the files that were met read in each search from now on. */
  mark(): void {
    if (this.#inodes.size === 0) return;
    for (const file of this.#slots.files) {
      if (!file || this.#slots.has(file.slot, TRAIT.linked) || !this.#inodes.has(file.inode)) continue;
      this.#arena.release(file);
      this.#slots.traits[file.slot]! |= TRAIT.linked;
      if (++this.#count > MAX_LINKED) throw new IndexGivesUp(`more than ${MAX_LINKED} files have other names`);
    }
    this.#inodes.clear();
  }

  /** Gives up what is kept of a file. */
  release(file: IndexedFile): void {
    const isLinked = this.#slots.has(file.slot, TRAIT.linked);
    this.#releasedInode = isLinked ? file.inode : NO_INODE;
    if (isLinked) this.#count--;
    this.#arena.release(file);
  }
}
