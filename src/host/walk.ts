/**
 * Every regular file below a directory of a jail, in the order of the bytes of the paths.
 *
 * Links are not followed and hidden files are not special. What cannot be read is told and left out. The walk is
 * synchronous and gives `pause` steps: whoever drives it decides when others may run, and stops it by leaving.
 */
import type { ByteString } from './byte-string.ts';
import { HostError, type HostReason } from './host-error.ts';
import { joinPath, type WalkDir } from './walk-dir.ts';
import { listSorted, type Pause, type WalkEntry } from './walk-list.ts';

export type WalkStep =
  /** Files that follow each other; `dir` is held until the next step. */
  | { kind: 'files'; dir: WalkDir; names: ByteString[] }
  | { kind: 'skipped'; path: ByteString; reason: SkipReason }
  | Pause;

export type SkipReason = HostReason | 'too-deep';

/** Decides what a walk leaves out, with its children if it is a directory. */
export interface WalkFilter {
  /** Before the entries of a directory are judged. */
  enter(dir: WalkDir, entries: readonly WalkEntry[]): void;
  isLeftOut(dir: WalkDir, entry: WalkEntry): boolean;
  leave(): void;
}

/** Directories held at once, one a level. */
export const MAX_DEPTH = 512;

interface Level {
  dir: WalkDir;
  entries: WalkEntry[];
  next: number;
}

/** Takes over the directory: it is closed when the walk ends. */
export function* walk(start: WalkDir, filter?: WalkFilter): Generator<WalkStep> {
  const levels: Level[] = [];
  try {
    yield* descend(levels, () => start, start.path, filter);
    for (let level = levels.at(-1); level; level = levels.at(-1)) {
      const names = filesInRow(level);
      if (names.length > 0) yield { kind: 'files', dir: level.dir, names };

      const folder = level.entries[level.next++];
      if (folder) {
        const { dir } = level;
        yield* descend(levels, () => dir.openDir(folder.name), joinPath(dir.path, folder.name), filter);
      } else {
        levels.pop();
        filter?.leave();
        level.dir.close();
      }
    }
  } finally {
    for (const { dir } of levels) dir.close();
  }
}

function filesInRow(level: Level): ByteString[] {
  const names: ByteString[] = [];
  for (let entry = level.entries[level.next]; entry && !entry.isDir; entry = level.entries[++level.next]) {
    names.push(entry.name);
  }
  return names;
}

function* descend(
  levels: Level[],
  open: () => WalkDir,
  path: ByteString,
  filter: WalkFilter | undefined,
): Generator<WalkStep> {
  if (levels.length === MAX_DEPTH) {
    yield { kind: 'skipped', path, reason: 'too-deep' };
    return;
  }
  let dir: WalkDir | undefined;
  try {
    dir = open();
    const all = yield* listSorted(dir);
    levels.push({ dir, entries: filter ? keep(filter, dir, all) : all, next: 0 });
    dir = undefined;
  } catch (error) {
    const { reason } = HostError.fromErrno(error, '');
    if (!isGone(reason)) yield { kind: 'skipped', path, reason };
  } finally {
    dir?.close();
  }
}

function keep(filter: WalkFilter, dir: WalkDir, entries: WalkEntry[]): WalkEntry[] {
  filter.enter(dir, entries);
  return entries.filter((entry) => !filter.isLeftOut(dir, entry));
}

/** It stood in the listing and is no longer there, or is something else by now: as if it had not been listed. */
export function isGone(reason: HostReason): boolean {
  return reason === 'missing' || reason === 'dangling' || reason === 'not-a-parent' || reason === 'not-a-directory';
}
