/**
 * The steps of a write set, as the prepared file lists them, and how to roll one back.
 *
 * A step is rolled back only if the path is still as the step made it. A file that another program has put there
 * since is not touched.
 */
import { lstatSync, renameSync, rmdirSync, unlinkSync, type Stats } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';

import { isLeft, isTempName } from '../changes/atomic-write-temp.ts';
import { removeMade } from '../changes/jail-remove.ts';
import { sumBelow } from '../changes/tree-sum.ts';
import { dropStaged, putBack, putStaged } from '../changes/stage.ts';
import { HostError } from '../host-error.ts';
import type { JailEntry } from '../jail/jail-entry.ts';
import type { Jail } from '../jail/jail.ts';
import type { ByteString } from '../text/byte-string.ts';
import { fileState } from './open-record.ts';
import type { DirectoryState, FileState, JournalChange, State } from './records.ts';
import { bringDirectory, stageState } from './restore-state.ts';
import { codeOf, isUnlinkable, type ImageStore } from './store.ts';

export interface Step {
  readonly path: string;
  kind: JournalChange['kind'];
  readonly from?: string;
  before: State;
  after: State;
  /** `path` as the jail takes it. */
  readonly at: string;
  /** `from` as the jail takes it. */
  readonly fromAt?: string;
  /** Name of the staged file, in the same directory. */
  temp?: ByteString;
  /** Temporary name of the former entry, where the store has no link to it: a roll back must need no space. */
  aside?: ByteString | undefined;
  /** Absolute path outside the jail that the entry was renamed from, and goes back to. */
  outside?: string;
  /** A warning for the caller. */
  note?: string;
  /** Inode that the step puts at the path, if it is known. */
  ino?: number;
}

const FULL = new Set(['ENOSPC', 'EDQUOT']);

export interface TakenBack {
  /** Paths that could not be rolled back. */
  readonly left: readonly string[];
  /** Whether a full disk is the reason: then rolling back again works when there is space. */
  readonly isFull: boolean;
}

/** Rolls back the steps that were made, the last first. Steps that are rolled back already stay so. */
export async function takeBack(jail: Jail, store: ImageStore, steps: readonly Step[]): Promise<TakenBack> {
  const left: string[] = [];
  let isFull = false;
  for (const step of steps.toReversed()) {
    try {
      if (!(await takeBackStep(jail, store, step))) left.push(step.at);
      else await dropAside(jail, step);
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      left.push(step.at);
      isFull ||= FULL.has(codeOf(error));
    }
  }
  return { left, isFull };
}

async function takeBackStep(jail: Jail, store: ImageStore, step: Step): Promise<boolean> {
  using entry = jail.entry(step.at);
  // Another program put a symlink into the path: the resolved file is not one of this set.
  if (!jail.keyOf(entry).endsWith(step.path)) return false;
  const { stat } = entry;
  if (step.temp !== undefined) dropStaged(entry, { name: step.temp });
  if (step.kind === 'mode') return takeBackMode(entry, step.before);
  if (step.kind === 'move') return await takeBackMove(jail, store, entry, step);

  const { before, after, outside } = step;
  if (outside !== undefined) return stat?.ino === step.ino ? giveBack(entry, outside) : stat === undefined;
  if (after.kind === 'absent') return stat !== undefined || (await restore(entry, store, step));
  if (!stat) return before.kind === 'absent';
  if (after.kind === 'directory') return await takeBackDirectory(entry, store, step);
  if (stat.ino !== step.ino) return isUnchanged(stat, before);
  if (before.kind !== 'absent') return await restore(entry, store, step);
  entry.act(unlinkSync);
  return true;
}

/** Renames an entry back to where it was before the step; a process killed between link and unlink left both names. */
function giveBack(entry: JailEntry, outside: string): boolean {
  const isThere = lstatSync(outside, { throwIfNoEntry: false }) !== undefined;
  entry.act((at) => (isThere ? unlinkSync(at) : renameSync(at, outside)));
  return true;
}

/** Whether an entry still has its state from before the step, which was then not made. Else another program changed it. */
function isUnchanged(stat: Stats, before: State): boolean {
  if (before.kind === 'file') return stat.isFile() && stat.size === before.size && stat.mtimeMs === before.mtimeMs;
  return before.kind === 'link' ? stat.isSymbolicLink() : before.kind === 'other';
}

/** Removes an entry that was put aside for a roll back. */
export async function dropAside(jail: Jail, step: Step): Promise<void> {
  const { at, aside } = step;
  if (aside === undefined) return;
  using entry = jail.entry(at);
  await removeMade(entry.beside(aside));
  step.aside = undefined;
}

/** Restores the former entry of a path that is missing now or still as the step made it. False if it cannot. */
async function restore(entry: JailEntry, store: ImageStore, { before, aside }: Step): Promise<boolean> {
  if (before.kind === 'absent' || before.kind === 'other') return before.kind === 'absent';
  if (aside !== undefined) {
    entry.act((temp) => putBack(entry, temp), aside);
    return true;
  }
  // No image of the former content in the store: the step was not made, because the image is stored first.
  if (before.kind === 'file' && (before.image === undefined || !store.lstat('images', before.image))) return true;
  if (before.kind === 'directory') {
    if (before.tree === undefined || store.lstat('trees', before.tree)) await bringDirectory(entry, store, before);
    return true;
  }
  if (before.kind === 'file' && putBackImage(entry, store, before)) return true;
  const staged = await stageState(entry, store, before);
  try {
    putStaged(entry, staged);
    return true;
  } catch (error) {
    dropStaged(entry, staged);
    throw error;
  }
}

/** Renames the before-image to its path; false if it is a copy, or on another device. */
function putBackImage(entry: JailEntry, store: ImageStore, before: FileState): boolean {
  const image = store.lstat('images', before.image!)!;
  // A copy has a time of its own, and may have another owner and mode.
  if (!isDeepStrictEqual(fileState(image), withoutContent(before))) return false;
  try {
    putBack(entry, Buffer.from(store.pathOf('images', before.image!)));
    return true;
  } catch (error) {
    if (isUnlinkable(error)) return false;
    throw error;
  }
}

function withoutContent({ kind, mode, uid, gid, size, mtimeMs }: FileState): FileState {
  return { kind, mode, uid, gid, size, mtimeMs };
}

/** Moves a restored directory back to the store; removes a created one if it is empty. */
async function takeBackDirectory(entry: JailEntry, store: ImageStore, { after, ino }: Step): Promise<boolean> {
  const { tree, contents } = after as DirectoryState;
  if (tree !== undefined) {
    if (store.lstat('trees', tree)) await removeCopy(entry, contents);
    else if (entry.stat!.ino === ino) entry.act((at) => renameSync(at, store.pathOf('trees', tree)));
    return true;
  }
  if (ino !== undefined && entry.stat!.ino !== ino) return true;
  dropLeftovers(entry);
  try {
    entry.act((at) => rmdirSync(at));
    return true;
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    return false;
  }
}

/** Removes files that a killed process staged in the directory before it listed their steps. */
function dropLeftovers(entry: JailEntry): void {
  using dir = entry.openDir();
  for (const name of [...dir.allNames()].flat().filter(isTempName)) {
    if (isLeft(name, lstatSync(dir.pin.at(name)))) dir.remove(name, 'other');
  }
}

/** Removes a directory that was copied from the store, if it is unchanged: the store still has the original. */
async function removeCopy(entry: JailEntry, contents: string | undefined): Promise<void> {
  {
    using dir = entry.openDir();
    if ((await sumBelow(dir, { signal: new AbortController().signal })) !== contents) return;
  }
  await removeMade(entry);
}

async function takeBackMove(jail: Jail, store: ImageStore, entry: JailEntry, step: Step): Promise<boolean> {
  using source = jail.entry(step.fromAt!);
  if (source.stat) return true;
  if (entry.stat?.ino !== step.ino) return false;
  entry.act((at) => source.act((from) => renameSync(at, from)));
  if (step.before.kind === 'absent') return true;
  using target = jail.entry(step.at);
  return await restore(target, store, step);
}

function takeBackMode(entry: JailEntry, before: State): boolean {
  if (!entry.stat || before.kind === 'absent' || before.kind === 'link' || before.kind === 'other') return true;
  const { mode, uid, gid } = before;
  entry.setPermissions({ mode, uid, gid });
  return true;
}
