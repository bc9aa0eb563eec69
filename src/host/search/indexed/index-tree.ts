/** The tree of a workspace in the index. Per-file data that every search reads is in `FileSlots`. */
import type { FSWatcher } from 'node:fs';

import type { ByteString } from '../../text/byte-string.ts';
import type { SkipReason } from '../../walk/walk.ts';

/** Inode of a file that was not read. */
export const NO_INODE = -1;

export interface IndexedFile {
  readonly kind: 'file';
  readonly name: ByteString;
  readonly dir: IndexedDir;
  /** Index into `FileSlots`. */
  readonly slot: number;
  unreadable?: SkipReason;
  /** Inode of the file that was read last, or `NO_INODE`. */
  inode: number;
  /** Its signatures; undefined when there was no room for them. */
  documents?: readonly number[];
  /** From the root, as it is reported; computed on demand. */
  path?: string;
}

export interface IndexedDir {
  readonly kind: 'dir';
  readonly name: ByteString;
  readonly path: ByteString;
  readonly entries: Map<ByteString, IndexedFile | IndexedDir>;
  /** The entries in path order; computed on demand. */
  sorted?: (IndexedFile | IndexedDir)[];
  watcher?: FSWatcher;
  unreadable?: SkipReason;
  /** Undefined for the root. */
  readonly parent?: IndexedDir;
  /** No longer part of the tree. */
  isDropped?: boolean;
}

export function setEntry(dir: IndexedDir, entry: IndexedFile | IndexedDir): void {
  dir.entries.set(entry.name, entry);
  dir.sorted = undefined;
}

export function deleteEntry(dir: IndexedDir, name: ByteString): void {
  if (dir.entries.delete(name)) dir.sorted = undefined;
}

export function sortedEntries(dir: IndexedDir): readonly (IndexedFile | IndexedDir)[] {
  return (dir.sorted ??= [...dir.entries.values()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)));
}

function keyOf({ kind, name }: IndexedFile | IndexedDir): string {
  return kind === 'dir' ? `${name}/` : name;
}
