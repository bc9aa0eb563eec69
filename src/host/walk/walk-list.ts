/**
 * The files and directories in an open directory, in path order.
 *
 * A huge directory is read and sorted in batches, with a pause after each.
 */
import { opendirSync, readdirSync, type Dirent } from 'node:fs';

import type { ByteString } from '../text/byte-string.ts';
import { entriesIn } from './kernel-entries.ts';
import type { WalkDir } from './walk-dir.ts';
import { spellDir } from './walk-entry.ts';

/** A point where the caller may yield. */
export interface Pause {
  readonly kind: 'pause';
}

const PAUSE: Pause = { kind: 'pause' };

/** A directory file of this size may hold too much to be read at once. */
const HUGE_BYTES = 32_768;

/** A few milliseconds of reading and sorting. */
const ENTRIES_AT_ONCE = 4096;

/** Buffer for about two thousand entries, consumed before the next read. */
const ROOM = Buffer.alloc(65_536);

/** Returns the entries, spelled, without symlinks and special files. With `mayBlock` it never pauses. */
export function* listSorted(dir: WalkDir, { mayBlock = false } = {}): Generator<Pause, string[]> {
  const pieces: string[][] = [];
  // Plain string order is correct: a character is a byte here, and spelled entries sort as paths.
  for (const piece of piecesOf(dir, mayBlock)) {
    if (!mayBlock && pieces.length > 0) yield PAUSE;
    pieces.push(piece.sort());
  }
  if (mayBlock && pieces.length > 1) return pieces.flat().sort();
  while (pieces.length > 1) pieces.push(yield* merge(pieces.shift()!, pieces.shift()!));
  return pieces[0] ?? [];
}

function piecesOf(dir: WalkDir, mayBlock: boolean): Iterable<string[]> {
  if (dir.readEntries) return readByCalls(dir);
  if (!mayBlock && dir.size > HUGE_BYTES) return readInPieces(dir);
  const entries = readAtOnce(dir);
  dir.recheck();
  return [entries];
}

function* readByCalls(dir: WalkDir): Generator<string[]> {
  for (let length = dir.readEntries!(ROOM); length > 0; length = dir.readEntries!(ROOM)) {
    yield entriesIn(ROOM.subarray(0, length), (name) => listedByStat(dir, name));
  }
}

function readAtOnce(dir: WalkDir): string[] {
  try {
    const entries: string[] = [];
    for (const entry of readdirSync(dir.listPath, { encoding: 'latin1', withFileTypes: true })) {
      const known = spelledEntry(dir, entry);
      if (known !== undefined) entries.push(known);
    }
    return entries;
  } catch (error) {
    // Where the file system does not report the type, Node stats the name as text, which bytes need not be.
    if (!hasCode(error, 'ENOENT')) throw error;
    const names = readdirSync(dir.listPath, { encoding: 'latin1' }) as ByteString[];
    return names.flatMap((name) => listedByStat(dir, name) ?? []);
  }
}

function* readInPieces(dir: WalkDir): Generator<string[]> {
  const handle = opendirSync(dir.listPath, { encoding: 'latin1', bufferSize: 1024 });
  try {
    dir.recheck();
    let piece: string[] = [];
    for (let entry = handle.readSync(); entry; entry = handle.readSync()) {
      const known = spelledEntry(dir, entry);
      if (known !== undefined) piece.push(known);
      if (piece.length < ENTRIES_AT_ONCE) continue;
      yield piece;
      piece = [];
    }
    yield piece;
  } finally {
    handle.closeSync();
  }
}

function* merge(left: string[], right: string[]): Generator<Pause, string[]> {
  const merged: string[] = [];
  let l = 0;
  let r = 0;
  while (l < left.length || r < right.length) {
    const takeLeft = r === right.length || (l < left.length && left[l]! < right[r]!);
    merged.push(takeLeft ? left[l++]! : right[r++]!);
    if (merged.length % (4 * ENTRIES_AT_ONCE) === 0) yield PAUSE;
  }
  return merged;
}

function spelledEntry(dir: WalkDir, entry: Dirent): string | undefined {
  const name = entry.name as ByteString;
  if (entry.isFile()) return name;
  if (entry.isDirectory()) return spellDir(name);
  const isKnown =
    entry.isSymbolicLink() || entry.isFIFO() || entry.isSocket() || entry.isCharacterDevice() || entry.isBlockDevice();
  return isKnown ? undefined : listedByStat(dir, name);
}

function listedByStat(dir: WalkDir, name: ByteString): string | undefined {
  try {
    const stat = dir.lstat(name);
    if (stat.isDirectory()) return spellDir(name);
    return stat.isFile() ? name : undefined;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
