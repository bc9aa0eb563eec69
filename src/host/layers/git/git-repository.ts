/**
 * Changes to the repositories in the workspace.
 *
 * Files of `.git` are never merged: an index or a packed file of two versions is a broken repository. A commit may take
 * new objects, moved references and the index; configuration, hooks and `info` run or redirect programs on the host, and
 * stay as they are.
 */
import { lstatSync, readFileSync } from 'node:fs';

import { HostError } from '../../host-error.ts';
import { visitBelow } from '../../jail/jail-list.ts';
import type { Jail } from '../../jail/jail.ts';
import type { LayerJails } from '../diff/touched-paths.ts';
import type { References } from '../git-references.ts';
import { readRefs, type RefFile, type RefValue } from './git-refs.ts';

export interface MovedRef {
  readonly name: string;
  /** In the workspace; null if it is not there. */
  readonly from: RefValue | null;
  /** In the change; null if the change deleted it. */
  readonly to: RefValue | null;
  /** Whether the workspace's value changed since the change began. */
  readonly isMovedUnderneath: boolean;
}

export interface GitRepository {
  /** Path of the `.git` directory. */
  readonly path: string;
  /** Paths of new object files. */
  readonly objects: readonly string[];
  readonly refs: readonly MovedRef[];
  readonly index: 'unchanged' | 'changed' | 'changed-underneath';
  readonly isConfigChanged: boolean;
  readonly areHooksChanged: boolean;
}

const OBJECT =
  /^objects\/(?:[0-9a-f]{2}\/[0-9a-f]{38}(?:[0-9a-f]{24})?|pack\/pack-[0-9a-f]{40,64}\.(?:pack|idx|rev|mtimes))$/;

const NEVER = new AbortController().signal;

export interface GitScope {
  readonly jails: LayerJails;
  readonly beganAtCtimeNs: bigint;
  /** The file with the references at the begin. */
  readonly gitAtBegin?: string | undefined;
}

interface RepositoryScope extends GitScope {
  /** Values of the references at the begin; undefined if they are not known. */
  readonly atBegin: Readonly<Record<string, RefValue>> | undefined;
}

export async function gitRepositories(directories: readonly string[], scope: GitScope): Promise<GitRepository[]> {
  const all: GitRepository[] = [];
  for (const path of directories) all.push(await repositoryAt(path, { ...scope, atBegin: refsAtBegin(path, scope) }));
  return all.filter(isTouched);
}

function refsAtBegin(path: string, { gitAtBegin }: GitScope): RepositoryScope['atBegin'] {
  if (gitAtBegin === undefined) return undefined;
  const { repositories } = JSON.parse(readFileSync(gitAtBegin, 'utf8')) as References;
  return repositories.find((one) => path === (one.path === '' ? '.git' : `${one.path}/.git`))?.refs;
}

async function repositoryAt(path: string, scope: RepositoryScope): Promise<GitRepository> {
  const { beganAtCtimeNs } = scope;
  const { upper, live, view } = scope.jails;
  const files = await filesBelow(upper, path);
  const isTouchedRef = (name: string) => files.includes(name) || files.includes('packed-refs');
  const isThere = (name: string) => exists(live, `${path}/${name}`) !== undefined;
  const index = exists(live, `${path}/index`);
  return {
    path,
    objects: files.filter((name) => OBJECT.test(name) && !isThere(name)).map((name) => `${path}/${name}`),
    refs: movedRefs(path, { live: await readRefs(live, path), view: await readRefs(view, path) }, scope).filter(
      ({ name }) => isTouchedRef(name),
    ),
    index: !files.includes('index') ? 'unchanged' : (index ?? 0n) >= beganAtCtimeNs ? 'changed-underneath' : 'changed',
    isConfigChanged: files.some((name) => /^config(?:\.worktree)?$/.test(name)),
    areHooksChanged: files.some((name) => /^(?:hooks|info|modules)\//.test(name)),
  };
}

/**
 * Starting refs are known only for the root repository: finding others at the begin would scan the whole workspace.
 * Others compare ctimes, of the ref's file or, if that is missing, of its folder.
 */
function movedRefs(
  path: string,
  { live, view }: Record<'live' | 'view', ReadonlyMap<string, RefFile>>,
  { beganAtCtimeNs, atBegin, jails }: RepositoryScope,
): MovedRef[] {
  return [...new Set([...live.keys(), ...view.keys()])].sort().flatMap((name) => {
    const [now, mine] = [live.get(name), view.get(name)];
    if (now?.value === mine?.value) return [];
    const isMovedUnderneath = atBegin
      ? (now?.value ?? null) !== (atBegin[name] ?? null)
      : (now?.ctimeNs ?? folderChangedAt(jails.live, `${path}/${name}`)) >= beganAtCtimeNs;
    return [{ name, from: now?.value ?? null, to: mine?.value ?? null, isMovedUnderneath }];
  });
}

function isTouched({ objects, refs, index, isConfigChanged, areHooksChanged }: GitRepository): boolean {
  return objects.length > 0 || refs.length > 0 || index !== 'unchanged' || isConfigChanged || areHooksChanged;
}

/** Paths of files and whiteouts below a `.git` directory of upper, from that directory. */
async function filesBelow(upper: Jail, path: string): Promise<string[]> {
  const names: string[] = [];
  try {
    using dir = upper.openDir(path);
    await visitBelow(dir, { signal: NEVER }, (parent, { name, kind }) => {
      if (kind !== 'directory') names.push(parent.pathOf(name).slice(path.length + 1));
      return 'go-on';
    });
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
  }
  return names;
}

/** Ctime of the nearest folder above that is there; 0 without a repository. */
function folderChangedAt(jail: Jail, path: string): bigint {
  const above = path.slice(0, path.lastIndexOf('/'));
  if (above === '' || above.endsWith('.git')) return 0n;
  return exists(jail, above) ?? folderChangedAt(jail, above);
}

/** The ctime of a path; undefined if nothing is there. */
function exists(jail: Jail, path: string): bigint | undefined {
  try {
    using entry = jail.entry(path);
    return entry.stat && entry.act((at) => lstatSync(at, { bigint: true }).ctimeNs);
  } catch (error) {
    if (error instanceof HostError) return undefined;
    throw error;
  }
}
