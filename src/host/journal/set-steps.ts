/**
 * The steps of a write set, as the prepared file lists them, and how to roll one back.
 *
 * A step is rolled back only if the path still has what the step put there. A file that another program has put there
 * since is not touched.
 */
import { lstatSync, renameSync, rmdirSync, unlinkSync, type Stats } from 'node:fs';

import { isLeft, isTempName } from '../changes/atomic-write-temp.ts';
import { removeMade } from '../changes/jail-remove.ts';
import { sumBelow } from '../changes/tree-sum.ts';
import { dropStaged, putStaged } from '../changes/stage.ts';
import { HostError } from '../host-error.ts';
import type { JailEntry } from '../jail/jail-entry.ts';
import type { Jail } from '../jail/jail.ts';
import type { ByteString } from '../text/byte-string.ts';
import type { DirectoryState, JournalChange, State } from './records.ts';
import { bringDirectory, stageState } from './restore-state.ts';
import type { ImageStore } from './store.ts';

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
  /** A warning for the caller. */
  note?: string;
  /** Inode that the step puts at the path, if it is known. */
  ino?: number;
}

/** Rolls back the steps that were made, the last first. Returns the paths that could not be rolled back. */
export async function takeBack(jail: Jail, store: ImageStore, steps: readonly Step[]): Promise<string[]> {
  const left: string[] = [];
  for (const step of steps.toReversed()) {
    try {
      if (!(await takeBackStep(jail, store, step))) left.push(step.at);
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      left.push(step.at);
    }
  }
  return left;
}

async function takeBackStep(jail: Jail, store: ImageStore, step: Step): Promise<boolean> {
  using entry = jail.entry(step.at);
  // Another program put a symlink into the path: the resolved file is not one of this set.
  if (!jail.keyOf(entry).endsWith(step.path)) return false;
  const { stat } = entry;
  if (step.temp !== undefined) dropStaged(entry, { name: step.temp });
  if (step.kind === 'mode') return takeBackMode(entry, step.before);
  if (step.kind === 'move') return await takeBackMove(jail, store, entry, step);

  const { before, after } = step;
  if (after.kind === 'absent') return stat !== undefined || (await restore(entry, store, before));
  if (!stat) return before.kind === 'absent';
  if (after.kind === 'directory') return await takeBackDirectory(entry, store, step);
  if (stat.ino !== step.ino) return isUnchanged(stat, before);
  if (before.kind !== 'absent') return await restore(entry, store, before);
  entry.act(unlinkSync);
  return true;
}

/** Whether an entry still has its state from before the step, which was then not made. Else another program changed it. */
function isUnchanged(stat: Stats, before: State): boolean {
  if (before.kind === 'file') return stat.isFile() && stat.size === before.size && stat.mtimeMs === before.mtimeMs;
  return before.kind === 'link' ? stat.isSymbolicLink() : before.kind === 'other';
}

/** Restores a state over a missing path, a file or a symlink. False for an entry that cannot be restored. */
async function restore(entry: JailEntry, store: ImageStore, state: State): Promise<boolean> {
  if (state.kind === 'absent' || state.kind === 'other') return state.kind === 'absent';
  // What the store does not have was not taken: it is kept before it is replaced.
  if (state.kind === 'file' && (state.image === undefined || !store.look('images', state.image))) return true;
  if (state.kind === 'directory') {
    if (state.tree === undefined || store.look('trees', state.tree)) await bringDirectory(entry, store, state);
    return true;
  }
  const staged = await stageState(entry, store, state);
  try {
    putStaged(entry, staged);
    return true;
  } catch (error) {
    dropStaged(entry, staged);
    throw error;
  }
}

/** Moves a restored directory back to the store; removes a created one if it is empty. */
async function takeBackDirectory(entry: JailEntry, store: ImageStore, { after, ino }: Step): Promise<boolean> {
  const { tree, contents } = after as DirectoryState;
  if (tree !== undefined) {
    if (store.look('trees', tree)) await removeCopy(entry, contents);
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
  using place = jail.entry(step.at);
  return await restore(place, store, step.before);
}

function takeBackMode(entry: JailEntry, before: State): boolean {
  if (!entry.stat || before.kind === 'absent' || before.kind === 'link' || before.kind === 'other') return true;
  const { mode, uid, gid } = before;
  entry.setPermissions({ mode, uid, gid });
  return true;
}
