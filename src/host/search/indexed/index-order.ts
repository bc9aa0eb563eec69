/** All files of the index in path order, so that a directory is a range and a search a loop over numbers. */
import { toText, type ByteString } from '../../text/byte-string.ts';
import type { SkipReason } from '../../walk/walk.ts';
import { sortedEntries, type IndexedDir } from './index-tree.ts';

export class FileOrder {
  /** Slots of the files. */
  readonly slots: Int32Array;
  /** Directories that could not be read, by the position their files would have. */
  readonly unreadable: { at: number; path: string; reason: SkipReason }[] = [];
  readonly #ranges = new Map<IndexedDir, [from: number, to: number]>();

  constructor(root: IndexedDir, fileCount: number) {
    this.slots = new Int32Array(fileCount);
    this.#add(root, 0);
  }

  /** The range of the files below a directory. */
  rangeOf(dir: IndexedDir): [from: number, to: number] {
    return this.#ranges.get(dir)!;
  }

  #add(dir: IndexedDir, from: number): number {
    let at = from;
    if (dir.unreadable) this.unreadable.push({ at, path: toText(dir.path), reason: dir.unreadable });
    for (const entry of sortedEntries(dir)) {
      if (entry.kind === 'dir') at = this.#add(entry, at);
      else this.slots[at++] = entry.slot;
    }
    this.#ranges.set(dir, [from, at]);
    return at;
  }
}

/** The directory of a path below another; undefined when it does not exist. */
export function findDir(root: IndexedDir, path: ByteString): IndexedDir | undefined {
  let dir = root;
  for (const name of path === '' ? [] : (path.split('/') as ByteString[])) {
    const entry = dir.entries.get(name);
    if (entry?.kind !== 'dir') return undefined;
    dir = entry;
  }
  return dir;
}
