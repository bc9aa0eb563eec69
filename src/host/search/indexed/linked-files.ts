/**
 * Files with several hard links, which every search reads: the kernel reports a write only under the name it was made
 * through.
 *
 * A file that gets a second link raises no event under its first name, so all known names are scanned then.
 */
import type { Stats } from 'node:fs';

import { TRAIT, type FileSlots } from './file-slots.ts';
import type { Arena } from './index-arena.ts';
import { IndexUnusable } from './index-unusable.ts';
import { NO_INODE, type IndexedFile } from './index-tree.ts';

/** Each is read in every search. */
const MAX_LINKED = 2000;

export class LinkedFiles {
  readonly #slots: FileSlots;
  readonly #arena: Arena;
  /** Found since names were last scanned. */
  readonly #inodes = new Set<number>();
  /** Entries of `#inodes` that were not sent to the main thread yet. */
  #unsent: number[] = [];
  /** Inode of the file that was released last, if it had several links: the other parts know it too. */
  #releasedInode = NO_INODE;
  #count = 0;

  constructor(slots: FileSlots, arena: Arena) {
    this.#slots = slots;
    this.#arena = arena;
  }

  /** Records the file's inode; returns whether it has several links. */
  note(file: IndexedFile, { ino, nlink }: Pick<Stats, 'ino' | 'nlink'>): boolean {
    file.inode = ino;
    if (nlink <= 1) return false;
    this.#inodes.add(ino);
    if (ino !== this.#releasedInode) this.#unsent.push(ino);
    return true;
  }

  /** Adds inodes whose other links lie in other index parts. */
  add(inodes: readonly number[]): void {
    for (const inode of inodes) this.#inodes.add(inode);
    this.mark();
  }

  /** Inodes found since the last call. */
  takeUnsent(): number[] {
    return this.#unsent.splice(0);
  }

  /** Makes every search from now on read all known names of these files. */
  mark(): void {
    if (this.#inodes.size === 0) return;
    for (const file of this.#slots.files) {
      if (!file || this.#slots.has(file.slot, TRAIT.linked) || !this.#inodes.has(file.inode)) continue;
      this.#arena.release(file);
      this.#slots.traits[file.slot]! |= TRAIT.linked;
      if (++this.#count > MAX_LINKED) throw new IndexUnusable(`more than ${MAX_LINKED} files have other names`);
    }
    this.#inodes.clear();
  }

  /** Frees the memory of a file. */
  release(file: IndexedFile): void {
    const isLinked = this.#slots.has(file.slot, TRAIT.linked);
    this.#releasedInode = isLinked ? file.inode : NO_INODE;
    if (isLinked) this.#count--;
    this.#arena.release(file);
  }
}
