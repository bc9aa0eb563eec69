/**
 * Parses directory entries as the Linux kernel writes them: each has its length, its type, and the name up to a NUL.
 *
 * Each name is decoded separately: slices of one decoded text take twice as long to sort.
 */
import type { ByteString } from '../text/byte-string.ts';
import { spellDir } from './walk-entry.ts';

const LENGTH_AT = 16;
const TYPE_AT = 18;
const NAME_AT = 19;

const TYPE = { unknown: 0, directory: 4, file: 8 } as const;

/** Calls `take` for every entry but `.` and `..`; the kind is `unknown` where the file system does not report it. */
export function eachName(
  bytes: Buffer,
  take: (name: ByteString, kind: 'directory' | 'other' | 'unknown') => void,
): void {
  for (let at = 0; at < bytes.length; at += bytes[at + LENGTH_AT]! + 256 * bytes[at + LENGTH_AT + 1]!) {
    const name = nameAt(bytes, at);
    if (name === '.' || name === '..') continue;
    const type = bytes[at + TYPE_AT];
    take(name, type === TYPE.directory ? 'directory' : type === TYPE.unknown ? 'unknown' : 'other');
  }
}

/** The files and directories among them, spelled. Calls `byStat` where the file system does not report the type. */
export function entriesIn(bytes: Buffer, byStat: (name: ByteString) => string | undefined): string[] {
  const entries: string[] = [];
  for (let at = 0; at < bytes.length; at += bytes[at + LENGTH_AT]! + 256 * bytes[at + LENGTH_AT + 1]!) {
    const type = bytes[at + TYPE_AT];
    if (type !== TYPE.file && type !== TYPE.directory && type !== TYPE.unknown) continue;
    const name = nameAt(bytes, at);
    if (name === '.' || name === '..') continue;
    const entry = type === TYPE.unknown ? byStat(name) : type === TYPE.directory ? spellDir(name) : name;
    if (entry !== undefined) entries.push(entry);
  }
  return entries;
}

function nameAt(bytes: Buffer, at: number): ByteString {
  let end = at + NAME_AT;
  while (bytes[end] !== 0) end++;
  return bytes.toString('latin1', at + NAME_AT, end) as ByteString;
}
