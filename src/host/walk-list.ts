/**
 * The files and directories in a held directory, in the order of their paths.
 *
 * That is not the order of the names: what is inside `a` has `a/` before it, so it comes after `a-b` and before
 * `a0`. A huge directory is read and sorted in pieces, with a pause after each.
 */
import { opendirSync, readdirSync, type Dirent } from 'node:fs';

import type { ByteString } from './byte-string.ts';
import type { WalkDir } from './walk-dir.ts';

export interface WalkEntry {
  readonly name: ByteString;
  readonly isDir: boolean;
}

/** A place where others may run. */
export interface Pause {
  readonly kind: 'pause';
}

const PAUSE: Pause = { kind: 'pause' };

/** A directory file of this size may hold too much to be read at once. */
const HUGE_BYTES = 32_768;

/** A few milliseconds of reading and sorting. */
const ENTRIES_AT_ONCE = 4096;

/** Returns the entries; links and special files are left out. Who may block does not even ask how many they are. */
export function* listSorted(dir: WalkDir, { mayBlock = false } = {}): Generator<Pause, WalkEntry[]> {
  if (!mayBlock && dir.size > HUGE_BYTES) return yield* listInPieces(dir);

  const entries = readAtOnce(dir);
  dir.recheck();
  if (needsSorting(entries)) entries.sort(byPath);
  return entries;
}

function readAtOnce(dir: WalkDir): WalkEntry[] {
  try {
    const entries: WalkEntry[] = [];
    for (const entry of readdirSync(dir.listPath, { encoding: 'latin1', withFileTypes: true })) {
      const known = toEntry(dir, entry);
      if (known) entries.push(known);
    }
    return entries;
  } catch (error) {
    // Where the file system does not tell what an entry is, Node asks by the name as text, which bytes need not be.
    if (!hasCode(error, 'ENOENT')) throw error;
    const names = readdirSync(dir.listPath, { encoding: 'latin1' }) as ByteString[];
    return names.flatMap((name) => look(dir, name) ?? []);
  }
}

/** Names come sorted by their bytes, which is wrong only for a directory before a name that begins with its own. */
function needsSorting(entries: WalkEntry[]): boolean {
  for (let i = 0; i + 1 < entries.length; i++) {
    const entry = entries[i]!;
    if (entry.isDir && byPath(entry, entries[i + 1]!) > 0) return true;
  }
  return false;
}

function* listInPieces(dir: WalkDir): Generator<Pause, WalkEntry[]> {
  const sorted: WalkEntry[][] = [];
  const handle = opendirSync(dir.listPath, { encoding: 'latin1', bufferSize: 1024 });
  try {
    dir.recheck();
    let piece: WalkEntry[] = [];
    for (let entry = handle.readSync(); entry; entry = handle.readSync()) {
      const known = toEntry(dir, entry);
      if (known) piece.push(known);
      if (piece.length < ENTRIES_AT_ONCE) continue;
      sorted.push(piece.sort(byPath));
      piece = [];
      yield PAUSE;
    }
    sorted.push(piece.sort(byPath));
  } finally {
    handle.closeSync();
  }
  while (sorted.length > 1) sorted.push(yield* merge(sorted.shift()!, sorted.shift()!));
  return sorted[0]!;
}

function* merge(left: WalkEntry[], right: WalkEntry[]): Generator<Pause, WalkEntry[]> {
  const merged: WalkEntry[] = [];
  let l = 0;
  let r = 0;
  while (l < left.length || r < right.length) {
    const takeLeft = r === right.length || (l < left.length && byPath(left[l]!, right[r]!) < 0);
    merged.push(takeLeft ? left[l++]! : right[r++]!);
    if (merged.length % (4 * ENTRIES_AT_ONCE) === 0) yield PAUSE;
  }
  return merged;
}

function byPath(left: WalkEntry, right: WalkEntry): number {
  const [a, b] = [left.isDir ? `${left.name}/` : left.name, right.isDir ? `${right.name}/` : right.name];
  return a < b ? -1 : 1;
}

function toEntry(dir: WalkDir, entry: Dirent): WalkEntry | undefined {
  const name = entry.name as ByteString;
  if (entry.isFile()) return { name, isDir: false };
  if (entry.isDirectory()) return { name, isDir: true };
  const isKnown =
    entry.isSymbolicLink() || entry.isFIFO() || entry.isSocket() || entry.isCharacterDevice() || entry.isBlockDevice();
  return isKnown ? undefined : look(dir, name);
}

function look(dir: WalkDir, name: ByteString): WalkEntry | undefined {
  try {
    const stat = dir.lstat(name);
    return stat.isFile() || stat.isDirectory() ? { name, isDir: stat.isDirectory() } : undefined;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
