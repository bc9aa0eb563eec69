/** The step of a write set that brings an entry from another directory, such as the layer of a change. */
import { linkSync, readlinkSync, renameSync, unlinkSync, type Stats } from 'node:fs';

import { PendingFile } from '../../changes/atomic-write.ts';
import type { FileAccess } from '../../changes/file-access.ts';
import { stageLink, type Staged } from '../../changes/stage.ts';
import { sumBelow } from '../../changes/tree-sum.ts';
import { HostError } from '../../host-error.ts';
import type { JailEntry } from '../../jail/jail-entry.ts';
import { piecesOf } from '../../text/read-pieces.ts';
import { fileState, stateOfStat } from '../../journal/open-record.ts';
import {
  requireSeen,
  beforeOf,
  begin,
  makeParents,
  type Of,
  type Planned,
  type PlanScope,
} from '../../journal/set-checks.ts';
import { ABSENT, type State } from '../../journal/records.ts';

/** Mode bits without setuid and setgid: a command may have set them on a file of another owner. */
const BROUGHT_BITS = 0o1777;

const SMALL_BYTES = 2 ** 20;

export async function planBring(target: JailEntry, entry: Of<'bring'>, scope: PlanScope): Promise<Planned> {
  requireSeen(target, entry.seen);
  await makeParents(target, scope);
  if (entry.how === 'copy') return planCopy(target, entry, scope);
  using source = entry.from.jail.entry(entry.from.path);
  if (!source.stat) throw new HostError('missing', entry.path);
  return await planRename(entry, { target, source, stat: source.stat }, scope);
}

interface Ends {
  readonly target: JailEntry;
  readonly source: JailEntry;
  /** Stat of the source. */
  readonly stat: Stats;
}

/** Gives the entry its new name by a hard link, which fails if another program has put something there. */
async function planRename({ from }: Of<'bring'>, { target, source, stat }: Ends, scope: PlanScope): Promise<Planned> {
  if (target.stat) throw new HostError('exists', target.path);
  const step = begin(target, { before: ABSENT, after: await stateOf(source, stat, scope) }, scope);
  step.ino = stat.ino;
  step.outside = from.jail.keyOf(source);
  const isDirectory = stat.isDirectory();
  const make = (into: JailEntry) => {
    using again = from.jail.entry(from.path);
    if (stat.isFile() && (stat.mode & ~BROUGHT_BITS & 0o7777) !== 0) {
      again.setPermissions({ mode: stat.mode & BROUGHT_BITS });
    }
    again.act((old) => into.act((now) => (isDirectory ? renameSync(old, now) : linkSync(old, now))));
    if (!isDirectory) again.act(unlinkSync);
  };
  return { step, found: undefined, make };
}

async function stateOf(source: JailEntry, stat: Stats, { signal }: PlanScope): Promise<State> {
  if (stat.isSymbolicLink()) return linkState(source);
  if (!stat.isDirectory()) return { ...fileState(stat), mode: stat.mode & BROUGHT_BITS };
  using dir = source.openDir();
  return { ...stateOfStat(stat), contents: await sumBelow(dir, { signal }) } as State;
}

function planCopy(target: JailEntry, { from, mode }: Of<'bring'>, scope: PlanScope): Planned {
  const step = begin(target, { before: beforeOf(target, scope), after: ABSENT }, scope);
  const found = target.stat;
  const isNew = found?.isFile() !== true;
  const stage = async (into: JailEntry, access?: FileAccess): Promise<Staged> => {
    using source = from.jail.entry(from.path);
    const { stat } = source;
    if (!stat) throw new HostError('missing', into.path);
    if (stat.isSymbolicLink()) {
      const state = linkState(source);
      step.after = state;
      return stageLink(into, state.to);
    }
    if (!stat.isFile()) throw new HostError('not-a-file', into.path);
    const bits = mode ?? (isNew ? stat.mode : undefined);
    using file = source.open();
    using pending = await PendingFile.at(into, { isHashed: true });
    // One read for a small file: most files of a commit are.
    if (file.size <= SMALL_BYTES) await pending.append(await file.read());
    else for await (const piece of piecesOf(file, into.path)) await pending.append(piece);
    scope.signal.throwIfAborted();
    const staged = await pending.seal({
      mode: bits === undefined ? undefined : bits & BROUGHT_BITS,
      isSynced: scope.isSynced,
      access,
      ...(isNew && { like: file.stat }),
    });
    step.after = { ...fileState(staged.stat), version: pending.version };
    return staged;
  };
  return { step, found, stage };
}

function linkState(source: JailEntry) {
  return { kind: 'link', to: source.act((at) => readlinkSync(at, 'latin1')) } as const;
}
