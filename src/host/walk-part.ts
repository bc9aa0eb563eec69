/**
 * A piece of a walk as plain data that crosses processes: one string for the entries, however many there are.
 *
 * Cutting it copies nothing, so the names of a huge directory are handed out little by little.
 */
import type { ByteString } from './byte-string.ts';
import type { WalkEntry } from './walk-list.ts';

export interface WalkPart {
  /** Canonical path from the root. */
  readonly dir: ByteString;
  /** What of it is to be walked, in order, directories with a slash behind; undefined when it was not listed yet. */
  readonly names?: string;
}

// Names hold neither a NUL nor a slash.
const BETWEEN = '\0';
const SLASH = '/';

export function partOf(dir: ByteString, entries: readonly WalkEntry[]): WalkPart {
  return { dir, names: entries.map(({ name, isDir }) => (isDir ? name + SLASH : name)).join(BETWEEN) };
}

export function entriesOf({ names }: WalkPart): WalkEntry[] {
  return names!.split(BETWEEN).map((name) => {
    const isDir = name.endsWith(SLASH);
    return { name: (isDir ? name.slice(0, -1) : name) as ByteString, isDir };
  });
}

/** A directory that was not looked into may hold anything; so much is thought of it. */
const FOLDER_WORK = 12;

/** The first parts, about so many files of work, and the others. */
export function splitParts(parts: readonly WalkPart[], maxWork: number): [WalkPart[], WalkPart[]] {
  const head: WalkPart[] = [];
  let workLeft = maxWork;
  for (const [index, part] of parts.entries()) {
    if (workLeft <= 0) return [head, parts.slice(index)];
    const { names } = part;
    if (names === undefined) {
      head.push(part);
      workLeft -= FOLDER_WORK;
      continue;
    }
    let at = 0;
    for (; at < names.length && workLeft > 0;) {
      const end = names.indexOf(BETWEEN, at);
      const next = end < 0 ? names.length + 1 : end + 1;
      workLeft -= names[next - 2] === SLASH ? FOLDER_WORK : 1;
      at = next;
    }
    if (at > names.length) {
      head.push(part);
      continue;
    }
    head.push({ dir: part.dir, names: names.slice(0, at - 1) });
    return [head, [{ dir: part.dir, names: names.slice(at) }, ...parts.slice(index + 1)]];
  }
  return [head, []];
}

/** How many levels a directory lies below another. */
export function depthBelow(start: ByteString, path: ByteString): number {
  return levelsOf(path) - levelsOf(start);
}

function levelsOf(path: ByteString): number {
  if (path === '') return 0;
  let levels = 1;
  for (let at = path.indexOf(SLASH); at >= 0; at = path.indexOf(SLASH, at + 1)) levels++;
  return levels;
}
