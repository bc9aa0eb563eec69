/**
 * Puts a change into the workspace as one write set, so that `coder::undo` takes it back.
 *
 * A file in the store of the change names the journal record before the first step. After a crash the journal rolls the
 * set back or has its record, and the change is open again or ends, but is never half committed.
 */
import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

import type { ChangeScope, JailChanges } from '../../changes/jail-changes.ts';
import { HostError } from '../../host-error.ts';
import type { Journal } from '../../journal/journal.ts';
import type { SetOutcome } from '../../journal/set-entry.ts';
import { codeOf } from '../../journal/store.ts';
import { isAlive, OWN_MARK, PID_SPACE } from '../../system/process-mark.ts';
import type { LayerScope, LayerInspection } from '../diff/inspect-layer.ts';
import { lockGit, planGit, type GitPlan } from '../git/plan-git.ts';
import type { LayerPaths } from '../layer-store.ts';
import { pinRestored, type Before } from '../pins.ts';
import { hideName } from '../whiteout.ts';
import { planCommit, type CommitPlan, type OnConflict } from './plan-commit.ts';

export interface CommitOptions {
  readonly onConflict: OnConflict;
  /** Whether to take new objects and moved references of repositories too. */
  readonly git: boolean;
  /** Whether the change stays open with the rest. */
  readonly isPart: boolean;
}

export interface WholePlan extends CommitPlan {
  readonly git: GitPlan;
  readonly isPart: boolean;
}

/** Plans without changing anything. */
export async function planWhole(
  inspection: LayerInspection,
  scope: LayerScope,
  options: CommitOptions,
): Promise<WholePlan> {
  const gone = inspection.rows.flatMap(({ of }) => of).filter(({ mine }) => !mine);
  const movedInodes = new Set(gone.flatMap(({ base }) => (base ? [base.stat.ino] : [])));
  const plan = await planCommit(inspection, { ...scope, contents: inspection.contents, movedInodes }, options);
  const git = planGit(inspection.repositories, {
    jails: scope.jails,
    isTaken: options.git,
    onConflict: options.onConflict,
  });
  return {
    ...plan,
    entries: [...plan.entries, ...git.entries],
    conflicts: [...plan.conflicts, ...git.conflicts],
    leftOut: [...plan.leftOut, ...git.leftOut],
    git,
    isPart: options.isPart,
  };
}

export interface CommitScope {
  readonly paths: LayerPaths;
  /** Changes the workspace; pins files for other changes, not for this one. */
  readonly changes: JailChanges;
  readonly journal: Journal;
  readonly jail: LayerScope['jails']['live'];
  readonly call: ChangeScope;
}

/**
 * Makes the commit. The caller has exclusive use of the change, and removes it unless a part was committed.
 *
 * If the commit is rolled back, the restored files are newer than the begin of the change. They are pinned then, so that
 * the next commit finds its base again; to pin all of them before each commit takes longer than to replace them.
 */
export async function commitLayer(plan: WholePlan, scope: CommitScope): Promise<SetOutcome> {
  const { paths, changes, journal, call } = scope;
  if (plan.entries.length === 0) return { changes: [] };
  const all = plan.entries.flatMap((entry) => (entry.kind === 'move' ? [entry.path, entry.to] : [entry.path]));
  if (!journal.isAvailable) throw new HostError('unsaved', all[0]!);
  const { seq } = journal.recordOf(call);
  const more = plan.isPart ? { paths: all } : { befores: plan.isForced ? [] : plan.befores };
  const marker: Marker = { seq, owner: OWN_MARK, space: PID_SPACE, ...more };
  writeFileSync(markerOf(paths), JSON.stringify(marker), { mode: 0o600 });
  let locks: Disposable | undefined;
  try {
    locks = lockGit(plan.git.locked, scope.jail);
    return await changes.writeSet(plan.entries, call);
  } catch (error) {
    // A roll back that waits for space on the disk is settled by the next commit.
    if (journal.unfinished.size === 0) settleCommit(paths, journal);
    throw error;
  } finally {
    locks?.[Symbol.dispose]();
  }
}

interface Marker {
  readonly seq: number;
  readonly owner: string;
  readonly space: string;
  /** Committed paths, if the change stays open. */
  readonly paths?: readonly string[];
  /** Content that the commit replaces, if the commit ends the change. */
  readonly befores?: readonly Before[];
}

function markerOf({ directory }: LayerPaths): string {
  return join(directory, 'committing');
}

/**
 * Finishes the commit of a change after its write set, or after the process was killed: returns `ended` if the change
 * has to be removed. A commit of another process is not touched.
 */
export function settleCommit(paths: LayerPaths, journal: Journal): 'ended' | 'open' {
  const path = markerOf(paths);
  if (!existsSync(path)) return 'open';
  const marker = readMarker(path);
  const isRunning = marker && marker.owner !== OWN_MARK && marker.space === PID_SPACE && isAlive(marker.owner);
  if (isRunning) return 'open';
  const isMade = marker !== undefined && journal.records().has(marker.seq);
  if (isMade && !marker.paths) return 'ended';
  if (isMade) for (const committed of marker.paths!) rebase(paths, journal.root, committed);
  else if (!isPinnedAgain(paths, journal.root, marker?.befores ?? [])) return 'open';
  unlinkSync(path);
  return 'open';
}

/** False if the disk is full: the next commit tries again, and meets conflicts if it cannot either. */
function isPinnedAgain(paths: LayerPaths, workspace: string, befores: readonly Before[]): boolean {
  try {
    pinRestored(paths, workspace, befores);
    return true;
  } catch (error) {
    if (codeOf(error) === '') throw error;
    return false;
  }
}

/** Undefined for an incomplete marker: the process died before the commit began. */
function readMarker(path: string): Marker | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Marker;
  } catch {
    return undefined;
  }
}

/** Makes the committed content the base of a path, so that the open change has no difference there any more. */
function rebase({ pins, whiteout }: LayerPaths, workspace: string, path: string): void {
  const [from, to] = [join(workspace, path), join(pins, path)];
  const found = lstatSync(from, { throwIfNoEntry: false });
  const names = path.split('/');
  for (let depth = 1; depth < names.length; depth++) makeDirectory(join(pins, ...names.slice(0, depth)));
  if (found?.isDirectory()) return makeDirectory(to);
  rmSync(to, { recursive: true, force: true });
  if (!found) hideName(whiteout, to);
  else if (found.isSymbolicLink()) symlinkSync(readlinkSync(from, 'buffer'), to);
  // A copy: another program may edit the file of the workspace in place.
  else if (found.isFile()) copyFileSync(from, to);
}

/** Replaces a whiteout or a file; the pins below a directory stay. */
function makeDirectory(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory()) return;
  if (found) unlinkSync(path);
  mkdirSync(path);
}
