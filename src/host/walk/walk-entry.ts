/**
 * A file or directory in a listing.
 *
 * Spelled as one string, a directory has a slash after its name. Sorted by bytes, such strings are in path order: the
 * contents of `a` start with `a/`, so they come after `a-b` and before `a0`.
 */
import type { ByteString } from '../text/byte-string.ts';

export interface WalkEntry {
  readonly name: ByteString;
  readonly isDir: boolean;
}

// Separates names, so it is in none.
const SLASH = '/';

export function spellDir(name: ByteString): string {
  return name + SLASH;
}

export function spellEntry({ name, isDir }: WalkEntry): string {
  return isDir ? spellDir(name) : name;
}

export function isSpelledDir(spelled: string): boolean {
  return spelled.endsWith(SLASH);
}

export function entryOf(spelled: string): WalkEntry {
  const isDir = isSpelledDir(spelled);
  return { name: (isDir ? spelled.slice(0, -1) : spelled) as ByteString, isDir };
}
