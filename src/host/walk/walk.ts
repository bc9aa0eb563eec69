/**
 * Every regular file below directories of a jail, in byte order of the paths.
 *
 * Symlinks are not followed and hidden files are not special. Unreadable entries are reported and skipped. A walk can
 * stop at any step and continue in another process: the rest of it is plain data, a part per directory.
 */
import type { ByteString } from '../text/byte-string.ts';
import { HostError, type HostReason } from '../host-error.ts';
import { joinPath, type OpenWalkDir, type WalkDir } from './walk-dir.ts';
import { entryOf, isSpelledDir, spellEntry, type WalkEntry } from './walk-entry.ts';
import { listSorted, type Pause } from './walk-list.ts';
import { depthBelow, entriesOf, partOf, type WalkPart } from './walk-part.ts';

export type WalkStep =
  /** Consecutive files; `dir` stays open until the next step. */
  | { kind: 'files'; dir: WalkDir; names: ByteString[] }
  /** A directory was listed; its entries follow. */
  | { kind: 'folder' }
  | { kind: 'skipped'; path: ByteString; reason: SkipReason }
  | Pause;

export type SkipReason = HostReason | 'too-deep';

/** Decides which entries of a directory are walked. */
export type WalkFilter = (dir: WalkDir, entries: WalkEntry[]) => WalkEntry[];

export interface WalkOptions {
  /** The directory from which depth is counted. */
  readonly start: ByteString;
  readonly filter?: WalkFilter;
  /** Whether a huge directory may be listed at once, as in a process of its own. */
  readonly mayBlock?: boolean;
}

/** Most directories open at once, one per level. */
export const MAX_DEPTH = 512;

/** A directory with a longer path cannot be opened by it, and counts as too deep. */
export const MAX_PATH_BYTES = 3072;

const FOLDER: WalkStep = { kind: 'folder' };

interface Level {
  dir: WalkDir;
  /** Spelled. */
  entries: readonly string[];
  next: number;
}

export class Walk {
  readonly #openDir: OpenWalkDir;
  readonly #options: WalkOptions;
  /** The parts that follow after all levels. */
  readonly #parts: readonly WalkPart[];
  #nextPart = 0;
  readonly #levels: Level[] = [];
  #listing: { dir: WalkDir; steps: Generator<Pause, string[]> } | undefined;

  constructor(openDir: OpenWalkDir, parts: readonly WalkPart[], options: WalkOptions) {
    this.#openDir = openDir;
    this.#parts = parts;
    this.#options = options;
  }

  /** Undefined when all was walked. */
  next(): WalkStep | undefined {
    for (;;) {
      const level = this.#levels.at(-1);
      const step = this.#listing ? this.#list() : level ? this.#goOn(level) : this.#nextStart();
      if (step !== 'moved') return step;
    }
  }

  /** Returns the last files of the step; the next step begins with them. */
  putBack(count: number): void {
    this.#levels.at(-1)!.next -= count;
  }

  /** Ends the walk; returns the rest. */
  leave(): WalkPart[] {
    const left: WalkPart[] = this.#listing ? [{ dir: this.#listing.dir.path }] : [];
    for (const { dir, entries, next } of this.#levels.toReversed()) {
      if (next < entries.length) left.push(partOf(dir.path, entries.slice(next)));
    }
    left.push(...this.#parts.slice(this.#nextPart));
    this.close();
    return left;
  }

  close(): void {
    this.#listing?.steps.return([]);
    this.#listing?.dir.close();
    this.#listing = undefined;
    for (const { dir } of this.#levels.splice(0)) dir.close();
  }

  #nextStart(): WalkStep | 'moved' | undefined {
    const part = this.#parts[this.#nextPart++];
    if (!part) return undefined;
    const { dir: path } = part;
    if (part.names === undefined) return this.#enter(() => this.#openDir(path), path);
    return this.#attempt(path, () => {
      this.#levels.push({ dir: this.#openDir(path), entries: entriesOf(part), next: 0 });
    });
  }

  #goOn(level: Level): WalkStep | 'moved' {
    const names = filesInRow(level);
    if (names.length > 0) return { kind: 'files', dir: level.dir, names };

    const { dir } = level;
    const folder = level.entries[level.next++];
    if (folder !== undefined) {
      const { name } = entryOf(folder);
      return this.#enter(() => dir.openDir(name), joinPath(dir.path, name));
    }
    this.#levels.pop();
    dir.close();
    return 'moved';
  }

  #enter(open: () => WalkDir, path: ByteString): WalkStep | 'moved' {
    if (depthBelow(this.#options.start, path) >= MAX_DEPTH || path.length > MAX_PATH_BYTES) {
      return { kind: 'skipped', path, reason: 'too-deep' };
    }
    return this.#attempt(path, () => {
      const dir = open();
      this.#listing = { dir, steps: listSorted(dir, this.#options) };
    });
  }

  #list(): WalkStep | 'moved' {
    const { dir, steps } = this.#listing!;
    return this.#attempt(dir.path, () => {
      const { done, value } = steps.next();
      if (!done) return value;
      const { filter } = this.#options;
      const entries = filter ? filter(dir, value.map(entryOf)).map(spellEntry) : value;
      this.#listing = undefined;
      this.#levels.push({ dir, entries, next: 0 });
      return FOLDER;
    });
  }

  #attempt(path: ByteString, work: () => WalkStep | 'moved' | void): WalkStep | 'moved' {
    try {
      return work() ?? 'moved';
    } catch (error) {
      const { reason } = HostError.fromErrno(error, '');
      this.#listing?.dir.close();
      this.#listing = undefined;
      return isGone(reason) ? 'moved' : { kind: 'skipped', path, reason };
    }
  }
}

function filesInRow(level: Level): ByteString[] {
  const { entries, next } = level;
  let end = next;
  while (end < entries.length && !isSpelledDir(entries[end]!)) end++;
  level.next = end;
  return entries.slice(next, end) as ByteString[];
}

/** Whether an error shows that a listed entry was removed or replaced since: it counts as not listed. */
export function isGone(reason: HostReason): boolean {
  return reason === 'missing' || reason === 'dangling' || reason === 'not-a-parent' || reason === 'not-a-directory';
}
