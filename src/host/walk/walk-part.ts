/**
 * A part of a walk as plain data that crosses processes: one string for all entries.
 *
 * Cutting it copies nothing, so the names of a huge directory are handed out little by little.
 */
import type { ByteString } from '../text/byte-string.ts';

export interface WalkPart {
  /** Canonical path from the root. */
  readonly dir: ByteString;
  /** The entries to walk, in order and spelled; undefined when it was not listed yet. */
  readonly names?: string;
}

// Separates entries, so it is in none.
const BETWEEN = '\0';

export function partOf(dir: ByteString, entries: readonly string[]): WalkPart {
  return { dir, names: entries.join(BETWEEN) };
}

export function entriesOf({ names }: WalkPart): string[] {
  return names!.split(BETWEEN);
}

/** Estimated work of a directory that was not listed. */
const FOLDER_WORK = 12;

/** Estimated work of parts, in files. */
export function workOf(parts: readonly WalkPart[]): number {
  return parts.reduce((work, { names }) => work + (names === undefined ? FOLDER_WORK : cut(names, Infinity).work), 0);
}

/** The first parts, about `maxWork` files of work, and the others. */
export function splitParts(parts: readonly WalkPart[], maxWork: number): [WalkPart[], WalkPart[]] {
  const head: WalkPart[] = [];
  let workLeft = maxWork;
  for (const [index, part] of parts.entries()) {
    if (workLeft <= 0) return [head, parts.slice(index)];
    const { dir, names } = part;
    const { at, work } = names === undefined ? { at: Infinity, work: FOLDER_WORK } : cut(names, workLeft);
    workLeft -= work;
    if (names === undefined || at > names.length) {
      head.push(part);
      continue;
    }
    head.push({ dir, names: names.slice(0, at - 1) });
    return [head, [{ dir, names: names.slice(at) }, ...parts.slice(index + 1)]];
  }
  return [head, []];
}

/** Index after the first names of about so much work; past the end when those are all. */
function cut(names: string, maxWork: number): { at: number; work: number } {
  let [at, work] = [0, 0];
  while (at <= names.length && work < maxWork) {
    const end = names.indexOf(BETWEEN, at);
    at = end < 0 ? names.length + 1 : end + 1;
    work += names[at - 2] === '/' ? FOLDER_WORK : 1;
  }
  return { at, work };
}

/** How many levels a directory lies below another. */
export function depthBelow(start: ByteString, path: ByteString): number {
  return levelsOf(path) - levelsOf(start);
}

function levelsOf(path: ByteString): number {
  if (path === '') return 0;
  let levels = 1;
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) levels++;
  return levels;
}
