/**
 * Keeps the files of other changes as they were: before a call changes a path of the workspace, the former file is
 * linked into the pins of every open change, which lie between its layer and the workspace.
 *
 * The first pin of a path stays: it is the content at the begin of the change, and the base of a three-way merge.
 */
import {
  appendFileSync,
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
  utimesSync,
  type Stats,
} from 'node:fs';
import { join } from 'node:path';

import { isUnlinkable } from '../journal/store.ts';
import { isCode, layerStoreOf, LayerStore, type LayerPaths } from './layer-store.ts';
import { mountedLayers } from './open-layer.ts';
import { hideName } from './whiteout.ts';

/** Called before paths of the workspace change; they are absolute and canonical. */
export type PinOthers = (paths: readonly string[]) => Promise<void>;

/** Pins for all changes of the store but one. */
export function pinsOf(workspace: string, { stateDir, except }: { stateDir: string; except?: string }): PinOthers {
  const directory = layerStoreOf(stateDir, workspace);
  const store = new LayerStore(stateDir, workspace);
  const prefix = workspace === '/' ? '/' : `${workspace}/`;
  return async (paths) => {
    // Also false for a store that this user cannot read, which has none of its changes.
    if (!existsSync(directory)) return;
    const inside = paths.filter((path) => path.startsWith(prefix)).map((path) => path.slice(prefix.length));
    if (inside.length === 0) return;
    for (const name of store.names()) {
      if (name === except) continue;
      const paths = store.pathsOf(name);
      let count = 0;
      const known = new Set<string>();
      for (const path of inside) count += pin(paths, workspace, path.split('/'), known);
      if (count === 0) continue;
      appendFileSync(paths.moved, '.');
      await mountedLayers.get(paths.directory)?.refreshIfUsed();
    }
  };
}

/** A file or symlink of the workspace before a commit. */
export interface Before {
  readonly path: string;
  /** Size of a file. */
  readonly size?: number;
  readonly mtimeMs?: number;
  /** Target of a symlink, as latin1: one char for each byte. */
  readonly to?: string;
}

/** Pins files that a rolled back commit restored, for its own change: the ctime is that of the roll back. */
export function pinRestored(paths: LayerPaths, workspace: string, restored: readonly Before[]): void {
  const known = new Set<string>();
  let count = 0;
  for (const before of restored) {
    if (isAgain(join(workspace, before.path), before)) count += pin(paths, workspace, before.path.split('/'), known);
  }
  if (count > 0) appendFileSync(paths.moved, '.');
}

/** False if the file is not restored, or another program has changed it since: that stays a conflict. */
function isAgain(path: string, { size, mtimeMs = NaN, to }: Before): boolean {
  const found = lstatIfThere(path);
  if (to !== undefined) return found?.isSymbolicLink() === true && readlinkSync(path, 'latin1') === to;
  return found?.isFile() === true && found.size === size && Math.abs(found.mtimeMs - mtimeMs) < COPIED_MS;
}

/** A file that is restored as a copy gets its time in whole microseconds. */
const COPIED_MS = 0.002;

/** Whether the path or a parent is already pinned for this change. */
export function isPinned(pins: string, path: string): boolean {
  const names = path.split('/');
  for (let depth = 1; depth <= names.length; depth++) {
    const found = lstatIfThere(join(pins, ...names.slice(0, depth)));
    if (!found) return false;
    if (!found.isDirectory()) return true;
  }
  return true;
}

/**
 * Pins a path and all below; returns the number of entries made. `known`: directories that exist on both sides, because
 * paths of a commit share most of theirs.
 */
function pin(paths: LayerPaths, workspace: string, names: readonly string[], known: Set<string>): number {
  let count = 0;
  for (let depth = 1; depth <= names.length; depth++) {
    const path = names.slice(0, depth).join('/');
    if (depth < names.length && known.has(path)) continue;
    const pinned = lstatIfThere(join(paths.pins, path));
    if (pinned && !pinned.isDirectory()) return count;
    const found = lstatIfThere(join(workspace, path));
    if (!found) {
      if (pinned && depth < names.length) continue;
      return pinned ? count : count + hide(paths, path);
    }
    if (depth === names.length) return count + pinEntry(paths, workspace, path, found);
    if (!found.isDirectory()) return count;
    if (!pinned) count += makeDirectory(paths, path, found);
    known.add(path);
  }
  return count;
}

function pinEntry(paths: LayerPaths, workspace: string, path: string, found: Stats): number {
  const [from, to] = [join(workspace, path), join(paths.pins, path)];
  if (lstatIfThere(to) && !found.isDirectory()) return 0;
  if (found.isDirectory()) {
    let count = lstatIfThere(to) ? 0 : makeDirectory(paths, path, found);
    for (const name of readdirSync(from)) {
      const inner = lstatIfThere(join(from, name));
      if (inner) count += pinEntry(paths, workspace, join(path, name), inner);
    }
    return count;
  }
  if (found.isSymbolicLink()) symlinkSync(readlinkSync(from), to);
  else if (found.isFile()) linkOrCopy(from, to, found);
  else return 0;
  return 1;
}

function linkOrCopy(from: string, to: string, found: Stats): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if (!isUnlinkable(error)) throw error;
    copyFileSync(from, to);
    takeOver(to, found);
  }
}

/** The view shows the attributes of the topmost directory, so it gets those of the workspace's. */
function makeDirectory({ pins }: LayerPaths, path: string, found: Stats): number {
  const to = join(pins, path);
  mkdirSync(to);
  takeOver(to, found);
  return 1;
}

function takeOver(to: string, { uid, gid, mode, atimeMs, mtimeMs }: Stats): void {
  try {
    chownSync(to, uid, gid);
  } catch (error) {
    if (!isCode(error, 'EPERM')) throw error;
  }
  chmodSync(to, mode & 0o7777);
  utimesSync(to, atimeMs / 1000, mtimeMs / 1000);
}

/** A link to the whiteout hides a name that does not exist yet. */
function hide({ pins, whiteout }: LayerPaths, path: string): number {
  hideName(whiteout, join(pins, path));
  return 1;
}

function lstatIfThere(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}
