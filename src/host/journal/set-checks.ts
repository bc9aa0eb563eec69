/** Shared by the entries of a write set: their scope, checks before a path changes, and the parts of a step. */
import { readlinkSync, type Stats } from 'node:fs';

import type { FileAccess } from '../changes/file-access.ts';
import { versionOf } from '../changes/jail-version.ts';
import { TreeSum } from '../changes/tree-sum.ts';
import { HostError } from '../host-error.ts';
import { refuseProtectedBelow } from '../jail/jail-tree-walk.ts';
import type { JailEntry } from '../jail/jail-entry.ts';
import type { Jail } from '../jail/jail.ts';
import { changedMeanwhile } from '../jail/pin.ts';
import { NOTHING_THERE, SetConflict, type Seen, type SetEntry } from './set-entry.ts';
import type { Staged } from '../changes/stage.ts';
import type { Journal } from './journal.ts';
import { fileState, stateOfStat, type OpenRecord } from './open-record.ts';
import type { PreparedFile } from './prepared-file.ts';
import { ABSENT, type State } from './records.ts';
import type { Step } from './set-steps.ts';

export interface PlanScope {
  readonly jail: Jail;
  readonly journal: Journal;
  readonly record: OpenRecord;
  readonly prepared: PreparedFile;
  readonly isSynced: boolean;
  /** Refuses paths through a symlink, even one that resolves inside the root. */
  readonly isExact: boolean;
  readonly signal: AbortSignal;
}

export interface Planned {
  readonly step: Step;
  /** Stat of the path when the step was planned. */
  readonly found: Stats | undefined;
  /** Writes the new file under a temporary name beside the path, with the access of the old one if that is known. */
  readonly stage?: (entry: JailEntry, access?: FileAccess) => Promise<Staged> | Staged;
  /** The content of the new file, if it is known. */
  readonly content?: () => Uint8Array;
  /** Makes the change; if undefined, the staged file is renamed to the path. */
  readonly make?: (entry: JailEntry) => Promise<void> | void;
}

export interface PlannedAt extends Planned {
  /** The planned entry; open until it is staged. */
  readonly target: JailEntry;
}

export type Of<Kind extends SetEntry['kind']> = Extract<SetEntry, { kind: Kind }>;

export function begin(
  entry: JailEntry,
  states: { before: State; after: State },
  { jail, journal, isExact }: PlanScope,
): Step {
  if (isExact && jail.spell(entry) !== entry.path) throw new HostError('escape', entry.path);
  return { path: journal.pathFrom(jail.keyOf(entry)), at: jail.spell(entry), kind: 'put', ...states };
}

/** The current state of the path, with a name for the before-image that `makeStep` will keep. */
export function beforeOf(entry: JailEntry, { record }: PlanScope, version?: string): State {
  const { stat } = entry;
  if (!stat) return ABSENT;
  if (stat.isSymbolicLink()) return { kind: 'link', to: entry.act((at) => readlinkSync(at, 'latin1')) };
  if (!stat.isFile()) return stateOfStat(stat);
  return { ...fileState(stat), image: record.nextName(), ...(version !== undefined && { version }) };
}

/** Creates missing parent directories, each as a step of its own. */
export async function makeParents(entry: JailEntry, { jail, journal, prepared, isSynced }: PlanScope): Promise<void> {
  const missing = entry.missingParents;
  const key = jail.keyOf(entry);
  const above = key.slice(0, key.length - entry.relativePath.length);
  for (const relativePath of missing) {
    prepared.add({
      path: journal.pathFrom(above + relativePath),
      at: jail.spell({ relativePath }),
      kind: 'put',
      before: ABSENT,
      after: { kind: 'directory', mode: 0o755 },
    });
  }
  if (missing.length === 0) return;
  prepared.flush();
  await entry.makeParents({ isSynced });
}

/** Resolves the path of a step again; throws if another program has put a symlink into it meanwhile. */
export function findAgain({ at }: { readonly at: string }, jail: Jail): JailEntry {
  const entry = jail.entry(at);
  if (jail.spell(entry) === at) return entry;
  entry.close();
  throw HostError.fromErrno(changedMeanwhile('ESTALE'), at);
}

export function requireSeen(entry: JailEntry, seen: Seen | undefined): void {
  if (seen === undefined) return;
  const { stat } = entry;
  const was = seen === 'nothing' ? undefined : seen;
  const isSame = stat?.ino === was?.ino && stat?.size === was?.size && stat?.mtimeMs === was?.mtimeMs;
  // The mtime of a directory changes with its entries, and this set may have changed them; its inode is compared only.
  if (!isSame && !(stat?.isDirectory() && stat.ino === was?.ino)) {
    throw HostError.fromErrno(changedMeanwhile('ESTALE'), entry.path);
  }
}

/** Reads the current version if the entry expects one or the caller needs it; throws `SetConflict` on a mismatch. */
export async function checked(
  entry: JailEntry,
  expected: string | undefined,
  { isNeeded = false } = {},
): Promise<string | undefined> {
  if (expected === undefined && !isNeeded) return undefined;
  const actual = await versionAt(entry);
  if (expected !== undefined && actual !== expected) throw new SetConflict(entry.path, { expected, actual });
  return actual === NOTHING_THERE ? undefined : actual;
}

async function versionAt(entry: JailEntry): Promise<string> {
  if (!entry.stat) return NOTHING_THERE;
  using file = entry.open();
  return versionOf(await file.read());
}

/** Sums everything below a directory; throws if any entry in it is protected. */
export async function contentsOf(
  entry: JailEntry,
  { jail: { refusal }, signal }: { readonly jail: Jail; readonly signal: AbortSignal },
): Promise<string> {
  const sum = new TreeSum();
  const start = entry.relativePath.length + 1;
  await refuseProtectedBelow(entry, { refusal, signal }, (dir, name, stat) =>
    sum.add(dir.pathOf(name).slice(start), stat),
  );
  return sum.value;
}

export function isEmpty(entry: JailEntry): boolean {
  using dir = entry.openDir();
  for (const names of dir.allNames()) if (names.length > 0) return false;
  return true;
}
