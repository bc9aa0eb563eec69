/** Turns one entry of a write set into a step: checks the path, and decides how the step is staged and made. */
import { readlinkSync, renameSync, unlinkSync } from 'node:fs';

import { linksNote } from '../changes/atomic-write.ts';
import { takeTree } from '../changes/jail-copy.ts';
import { versionOf } from '../changes/jail-version.ts';
import { PERMISSION_BITS } from '../changes/permissions.ts';
import { stageBytes } from '../changes/stage.ts';
import { HostError } from '../host-error.ts';
import { refuseNamesBelow } from '../jail/check-tree-names.ts';
import type { JailEntry } from '../jail/jail-entry.ts';
import { fileState, stateOfStat } from './open-record.ts';
import { ABSENT, type FileState, type State } from './records.ts';
import { bringDirectory, stageState } from './restore-state.ts';
import {
  checked,
  contentsOf,
  isEmpty,
  requireSeen,
  beforeOf,
  begin,
  makeParents,
  type Of,
  type Planned,
  type PlannedAt,
  type PlanScope,
} from './set-checks.ts';
import { planBring } from '../layers/commit/plan-bring.ts';
import type { SetEntry } from './set-entry.ts';
import { dropAside } from './set-steps.ts';

/** Returns undefined for an entry that changes nothing. The caller closes `target`, which stays open to be staged in. */
export async function planEntry(entry: SetEntry, scope: PlanScope): Promise<PlannedAt | undefined> {
  const { jail } = scope;
  const target =
    entry.kind === 'write' ? jail.target(entry.path) : jail.entry(entry.kind === 'move' ? entry.to : entry.path);
  let planned: Planned | undefined;
  try {
    planned = await planAt(target, entry, scope);
    return planned && { ...planned, target };
  } finally {
    if (!planned) target.close();
  }
}

async function planAt(target: JailEntry, entry: SetEntry, scope: PlanScope): Promise<Planned | undefined> {
  switch (entry.kind) {
    case 'write':
      return planWrite(target, entry, scope);
    case 'delete':
      return planDelete(target, entry, scope);
    case 'move':
      return planMove(target, entry, scope);
    case 'restore':
      return planRestore(target, entry, scope);
    case 'adopt':
      return planAdopt(target, entry, scope);
    case 'bring':
      return planBring(target, entry, scope);
    case 'mode':
      return planMode(target, entry, scope);
  }
}

async function planWrite(
  target: JailEntry,
  { path, content, expected, seen, like, ...given }: Of<'write'>,
  scope: PlanScope,
) {
  const { isSynced } = scope;
  await makeParents(target, scope);
  const { stat } = target;
  requireSeen(target, seen);
  if (stat && !stat.isFile()) throw new HostError('not-a-file', path);
  const version = versionOf(content);
  const current = await checked(target, expected, { isNeeded: stat?.size === content.length });
  const isModeKept = given.mode === undefined || given.mode === (stat && stat.mode & PERMISSION_BITS);
  if (stat && current === version && isModeKept) return undefined;

  const mode = given.mode ?? (stat || like === undefined ? undefined : modeOf(like, scope));
  const step = begin(target, { before: beforeOf(target, scope, current), after: ABSENT }, scope);
  step.note = linksNote(stat);
  const stage: Planned['stage'] = async (entry, access) => {
    const staged = await stageBytes(entry, content, { mode, isSynced, access });
    step.after = { ...fileState(staged.stat), version };
    return staged;
  };
  return { step, found: stat, stage, content: () => content };
}

async function planDelete(entry: JailEntry, { path, expected, seen, ifEmpty }: Of<'delete'>, scope: PlanScope) {
  const { stat } = entry;
  if (ifEmpty) await dropAsidesBelow(path, scope);
  if (ifEmpty && (!stat?.isDirectory() || !isEmpty(entry))) return undefined;
  requireSeen(entry, seen);
  if (!stat) throw new HostError('missing', path);
  if (entry.isRoot) throw new HostError('root', path);
  const current = await checked(entry, expected);
  if (!stat.isDirectory()) {
    const step = begin(entry, { before: beforeOf(entry, scope, current), after: ABSENT }, scope);
    return { step, found: stat, make: (found: JailEntry) => found.act(unlinkSync) };
  }

  const tree = scope.record.nextName();
  const before = { ...stateOfStat(stat), tree, contents: await contentsOf(entry, scope) } as State;
  const step = begin(entry, { before, after: ABSENT }, scope);
  const make = async (found: JailEntry) => {
    step.aside = await takeTree(found, scope.journal.store, tree);
  };
  return { step, found: stat, make };
}

/** Removes entries put aside below, which keep a directory from being empty. A roll back then copies from the store. */
async function dropAsidesBelow(path: string, { jail, prepared }: PlanScope): Promise<void> {
  for (const step of prepared.steps) if (step.at.startsWith(`${path}/`)) await dropAside(jail, step);
}

async function planMove(target: JailEntry, { path, to, expected }: Of<'move'>, scope: PlanScope) {
  const { jail } = scope;
  using source = jail.entry(path);
  if (!source.stat) throw new HostError('missing', path);
  if (target.stat?.isDirectory()) throw new HostError('exists', to);
  await checked(source, expected);
  await refuseNamesBelow(source, { refusal: jail.refusal, signal: scope.signal });
  await makeParents(target, scope);
  const fromAt = jail.spell(source);
  const states = { before: beforeOf(target, scope), after: stateOfStat(source.stat) };
  const moved = {
    kind: 'move',
    from: scope.journal.pathFrom(jail.keyOf(source)),
    fromAt,
    ino: source.stat.ino,
  } as const;
  const make = (found: JailEntry) => {
    using from = jail.entry(fromAt);
    from.act((old) => found.act((now) => renameSync(old, now)));
  };
  return { step: Object.assign(begin(target, states, scope), moved), found: target.stat, make };
}

async function planRestore(
  entry: JailEntry,
  { path, state, seen }: Of<'restore'>,
  scope: PlanScope,
): Promise<Planned | undefined> {
  const { store } = scope.journal;
  if (state.kind === 'absent') return planDelete(entry, { kind: 'delete', path, seen }, scope);
  requireSeen(entry, seen);
  await makeParents(entry, scope);
  const step = begin(entry, { before: beforeOf(entry, scope), after: withoutImage(state) }, scope);
  const found = entry.stat;
  if (state.kind === 'file' || state.kind === 'link') {
    const content = state.kind === 'file' ? () => store.read(state.image!) : undefined;
    return { step, found, content, stage: (at) => stageState(at, store, state) };
  }
  if (state.kind !== 'directory') throw new HostError('not-a-file', path);

  if (state.tree !== undefined) {
    step.after = state;
    step.ino = store.lstat('trees', state.tree)?.ino;
  }
  return { step, found, make: (at) => bringDirectory(at, store, state) };
}

async function planAdopt(entry: JailEntry, { path, made }: Of<'adopt'>, scope: PlanScope) {
  using source = scope.jail.entry(made);
  // A name that is not UTF-8 cannot be written as a path.
  if (!source.stat) throw new HostError('invalid-name', path);
  if (entry.stat?.isDirectory()) throw new HostError('exists', path);
  // A replaced file keeps its owner.
  if (entry.stat && source.stat.isFile() && entry.stat.uid !== source.stat.uid) {
    source.setPermissions({ mode: source.stat.mode & PERMISSION_BITS, uid: entry.stat.uid, gid: entry.stat.gid });
  }
  const after = source.stat.isSymbolicLink()
    ? ({ kind: 'link', to: source.act((at) => readlinkSync(at, 'latin1')) } as const)
    : stateOfStat(source.stat);
  const step = begin(entry, { before: beforeOf(entry, scope), after }, scope);
  step.ino = source.stat.ino;
  const make = (found: JailEntry) => {
    using from = scope.jail.entry(made);
    from.act((old) => found.act((now) => renameSync(old, now)));
  };
  return { step, found: entry.stat, make };
}

async function planMode(entry: JailEntry, { path, mode, uid, gid }: Of<'mode'>, scope: PlanScope): Promise<Planned> {
  if (!entry.stat) throw new HostError('missing', path);
  const before = stateOfStat(entry.stat);
  const after = { ...before, mode, ...(uid !== undefined && { uid }), ...(gid !== undefined && { gid }) } as State;
  const step = begin(entry, { before, after }, scope);
  step.kind = 'mode';
  return { step, found: entry.stat, make: (found) => found.setPermissions({ mode, uid, gid }) };
}

/** The state without image name and delta: when the restored file is replaced again, it gets new ones. */
function withoutImage(state: State): State {
  if (state.kind !== 'file') return state;
  const { image: _, delta: __, ...rest } = state;
  return rest satisfies FileState;
}

function modeOf(path: string, { jail }: PlanScope): number | undefined {
  using entry = jail.entry(path);
  return entry.stat && entry.stat.mode & PERMISSION_BITS;
}
