/** The part of a commit that takes new objects, moved references and the index of repositories. */
import { rmSync, writeFileSync } from 'node:fs';

import type { Jail } from '../../jail/jail.ts';
import type { Seen, SetEntry } from '../../journal/set-entry.ts';
import type { Conflict } from '../commit/conflicts.ts';
import type { LayerJails, LeftOut } from '../diff/touched-paths.ts';
import type { GitRepository, MovedRef } from './git-repository.ts';

export interface GitPlan {
  readonly entries: SetEntry[];
  readonly conflicts: Conflict[];
  readonly leftOut: LeftOut[];
  /** Files that git locks by another name with `.lock`, while it changes them. */
  readonly locked: string[];
}

interface PlanGitOptions {
  readonly jails: LayerJails;
  /** False leaves every repository as it is. */
  readonly isTaken: boolean;
  readonly onConflict: 'refuse' | 'merge' | 'mine' | 'theirs';
}

export function planGit(repositories: readonly GitRepository[], options: PlanGitOptions): GitPlan {
  const plan: GitPlan = { entries: [], conflicts: [], leftOut: [], locked: [] };
  for (const repository of repositories) {
    if (!options.isTaken) plan.leftOut.push({ path: repository.path, why: 'git' });
    else planRepository(repository, plan, options);
  }
  return plan;
}

function planRepository(repository: GitRepository, plan: GitPlan, { jails, onConflict }: PlanGitOptions): void {
  const { path, objects, refs, index } = repository;
  for (const object of objects) plan.entries.push(brought(object, jails));
  for (const ref of refs) planRef(path, ref, plan, { jails, onConflict });
  const indexPath = `${path}/index`;
  if (index === 'changed') {
    plan.entries.push({ ...brought(indexPath, jails), seen: seenAt(jails.live, indexPath) });
    plan.locked.push(indexPath);
  }
  if (index === 'changed-underneath') plan.leftOut.push({ path: indexPath, why: 'git' });
  if (repository.isConfigChanged) plan.leftOut.push({ path: `${path}/config`, why: 'git' });
  if (repository.areHooksChanged) plan.leftOut.push({ path: `${path}/hooks`, why: 'git' });
}

function planRef(
  directory: string,
  { name, from, to, isMovedUnderneath }: MovedRef,
  plan: GitPlan,
  { jails, onConflict }: Pick<PlanGitOptions, 'jails' | 'onConflict'>,
): void {
  const path = `${directory}/${name}`;
  // A deleted reference may be in packed-refs too, which git alone rewrites.
  if (to === null) return void plan.leftOut.push({ path, why: 'git' });
  if (isMovedUnderneath && onConflict === 'theirs') return;
  if (isMovedUnderneath && onConflict !== 'mine') {
    const kind = from === null ? 'deleted-underneath' : 'both-changed';
    const versions = { base_version: null, mine_version: to, theirs_version: from };
    return void plan.conflicts.push({ path, kind, ...versions, mergeable: false });
  }
  plan.locked.push(path);
  plan.entries.push({ kind: 'write', path, content: Buffer.from(`${to}\n`), seen: seenAt(jails.live, path) });
}

function brought(path: string, { upper }: LayerJails) {
  return { kind: 'bring', path, from: { jail: upper, path }, how: 'copy' } as const;
}

function seenAt(jail: Jail, path: string): Seen {
  using entry = jail.entry(path);
  return entry.stat ?? 'nothing';
}

/** Takes the locks that git itself takes; returns how to release them. Throws `exists` if git holds one. */
export function lockGit(paths: readonly string[], jail: Jail): Disposable {
  const locked: string[] = [];
  const release = () => {
    for (const path of locked) {
      using entry = jail.entry(path);
      entry.act((at) => rmSync(at, { force: true }));
    }
  };
  try {
    for (const path of paths.map((one) => `${one}.lock`)) {
      using entry = jail.entry(path);
      // Without its directory git has nothing to lock: no other reference is below.
      if (entry.missingParents.length > 0) continue;
      entry.act((at) => writeFileSync(at, '', { flag: 'wx' }));
      locked.push(path);
    }
  } catch (error) {
    release();
    throw error;
  }
  return { [Symbol.dispose]: release };
}
