/** The tree of a workspace as the index knows it, in the order in which a walk would give it. */
import type { FSWatcher } from 'node:fs';

import type { ByteString } from '../byte-string.ts';
import type { SkipReason } from '../walk.ts';

/** What tells whether a file is still the one that was read. */
export interface Identity {
  readonly ino: number;
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
}

export interface IndexedFile {
  readonly kind: 'file';
  readonly name: ByteString;
  /** Of `OUTCOME`: what a search that reads it would say. */
  outcome: number;
  unreadable?: SkipReason;
  identity: Identity;
  /** Where its text is kept; undefined for what must be read again. */
  text?: { start: number; end: number };
  /** Where its signatures are. */
  signatures?: { start: number; count: number };
  /** It has other names, and what is written through them is not announced under this one. */
  isLinked?: boolean;
  /** Whether ASCII letters may stand for something in it when case is ignored. */
  hasCaseStrangers?: boolean;
}

export interface IndexedDir {
  readonly kind: 'dir';
  readonly name: ByteString;
  readonly path: ByteString;
  readonly entries: Map<ByteString, IndexedFile | IndexedDir>;
  /** The entries in the order of their paths, made when asked for. */
  sorted?: (IndexedFile | IndexedDir)[];
  watcher?: FSWatcher;
  unreadable?: SkipReason;
  /** Undefined for the root. */
  readonly parent?: IndexedDir;
  /** It is no longer part of the tree. */
  isDropped?: boolean;
}

export function setEntry(dir: IndexedDir, entry: IndexedFile | IndexedDir): void {
  if (dir.entries.get(entry.name)?.kind !== entry.kind) dir.sorted = undefined;
  const place = dir.sorted?.findIndex(({ name }) => name === entry.name) ?? -1;
  if (place >= 0) dir.sorted![place] = entry;
  dir.entries.set(entry.name, entry);
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
