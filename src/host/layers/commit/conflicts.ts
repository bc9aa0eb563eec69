/**
 * Finds the paths that both the change and the workspace changed since the change began.
 *
 * A pin is the exact base. Without one, another program changed the file if its ctime is not before the begin: the base
 * is then unknown, and nothing can be merged. The same content on both sides is not a conflict.
 */
import { isUtf8 } from 'node:buffer';

import { HostError } from '../../host-error.ts';
import { merge3 } from '../../journal/undo/merge3.ts';
import type { LayerContents } from '../diff/contents.ts';
import { bitsOf, pathEntry } from '../diff/rows.ts';
import type { LayerJails, TouchedPath } from '../diff/touched-paths.ts';
import { conflictHunk } from './conflict-hunk.ts';
import { copiedUp } from './overlay-copy-up.ts';

export type ConflictKind =
  | 'both-changed'
  | 'deleted-underneath'
  | 'changed-underneath-deleted-here'
  | 'both-added'
  | 'kind-differs';

export interface Conflict {
  readonly path: string;
  readonly kind: ConflictKind;
  /** Null if nothing was there, or if it is not known. */
  readonly base_version: string | null;
  readonly mine_version: string | null;
  readonly theirs_version: string | null;
  /** Null if the base is not known, or a side is not text. */
  readonly mergeable: boolean | null;
  /** Start of the first conflicting lines, with markers. */
  readonly hunk?: string;
}

/** How the commit treats a touched path. */
export type Standing =
  | { readonly state: 'clear' }
  /** The workspace has the content already. */
  | { readonly state: 'done' }
  | { readonly state: 'conflict'; readonly conflict: Conflict; readonly merged?: string };

export interface ConflictScope {
  readonly jails: LayerJails;
  readonly contents: LayerContents;
  readonly beganAtCtimeNs: bigint;
  /** Inodes of files that the change deleted: a file that was moved by the change has one of them. */
  readonly movedInodes: ReadonlySet<bigint>;
}

const CLEAR: Standing = { state: 'clear' };
const DONE: Standing = { state: 'done' };

/** Larger files are not merged. */
const MAX_MERGED_BYTES = 4 * 2 ** 20;

export async function standingOf(one: TouchedPath, scope: ConflictScope): Promise<Standing> {
  if (isShared(one)) {
    if (one.theirs!.stat.mtimeNs < scope.beganAtCtimeNs) return CLEAR;
    return await standingOf({ ...one, isPinned: false }, scope);
  }
  const { path, mine, base, theirs, isPinned } = one;
  const { contents } = scope;
  if (!isChangedUnderneath(one, scope)) return CLEAR;
  if (isPinned && (await contents.isSame(pathEntry(path, base), pathEntry(path, theirs)))) return CLEAR;
  if (await contents.isSame(pathEntry(path, mine), pathEntry(path, theirs))) {
    return mine && theirs && mine.type !== 'link' && bitsOf(mine) !== bitsOf(theirs) ? CLEAR : DONE;
  }
  return await conflictOf(one, scope);
}

/**
 * Whether the pin is the file of the workspace itself: a commit was rolled back, or a call changed only the mode. Later
 * writes of other programs are in both, so only its mtime shows them.
 */
function isShared({ base, theirs, isPinned }: TouchedPath): boolean {
  if (!isPinned || base?.type !== 'file' || !theirs) return false;
  return base.stat.ino === theirs.stat.ino && base.stat.dev === theirs.stat.dev;
}

function isChangedUnderneath({ path, mine, base, theirs, isPinned }: TouchedPath, scope: ConflictScope): boolean {
  if (isPinned) return true;
  if (!theirs) return mine !== undefined && !base && isRemovedUnderneath(path, mine.stat.ino, scope);
  // The ctime of a directory changes with the names in it.
  if (theirs.type === 'directory') return mine !== undefined && mine.type !== 'directory' && !base;
  return theirs.stat.ctimeNs >= scope.beganAtCtimeNs;
}

/**
 * Whether a file that only the change has was in the workspace at the begin: overlayfs marks a file that it copied up,
 * the change did not move it there, and names in its directory changed since.
 */
function isRemovedUnderneath(
  path: string,
  ino: bigint,
  { jails, beganAtCtimeNs, movedInodes }: ConflictScope,
): boolean {
  const { isCopiedUp, inodeInView } = copiedUp(path, jails);
  if (!isCopiedUp && (inodeInView === undefined || inodeInView === ino)) return false;
  // The view shows the inode of the original file as long as that exists.
  if (inodeInView !== undefined && movedInodes.has(inodeInView)) return false;
  return changedAt(path, jails) >= beganAtCtimeNs;
}

/** Ctime of the nearest directory above the path that is still in the workspace. */
function changedAt(path: string, { live }: LayerJails): bigint {
  for (let end = path.lastIndexOf('/'); ; end = path.lastIndexOf('/', end - 1)) {
    const above = end < 0 ? '.' : path.slice(0, end);
    try {
      using dir = live.openDir(above);
      // Whole milliseconds: rounded up, so that a change in the millisecond of the begin is seen.
      return BigInt(Math.ceil(dir.stat.ctimeMs)) * 1_000_000n;
    } catch (error) {
      if (!(error instanceof HostError) || end < 0) throw error;
    }
  }
}

async function conflictOf(one: TouchedPath, { contents }: ConflictScope): Promise<Standing> {
  const { path, mine, theirs, isPinned } = one;
  const base = isPinned ? one.base : undefined;
  const versions = {
    base_version: await contents.version(pathEntry(path, base)),
    mine_version: await contents.version(pathEntry(path, mine)),
    theirs_version: await contents.version(pathEntry(path, theirs)),
  };
  const kind = kindOf(one);
  const texts = await textsOf(one, contents);
  if (!texts) return { state: 'conflict', conflict: { path, kind, ...versions, mergeable: null } };
  const merged = merge3(...texts);
  const hunk = merged === undefined ? conflictHunk(...texts) : undefined;
  const conflict = { path, kind, ...versions, mergeable: merged !== undefined, ...(hunk !== undefined && { hunk }) };
  return { state: 'conflict', conflict, ...(merged !== undefined && { merged }) };
}

function kindOf({ mine, base, theirs, isPinned }: TouchedPath): ConflictKind {
  if (!mine) return 'changed-underneath-deleted-here';
  if (!theirs) return 'deleted-underneath';
  if (mine.type !== theirs.type) return 'kind-differs';
  // Without a pin, a file that another program made cannot be distinguished from one that it replaced.
  return isPinned && !base ? 'both-added' : 'both-changed';
}

/** Base, mine and theirs; undefined if one of them is unknown or is not text. */
async function textsOf(one: TouchedPath, contents: LayerContents): Promise<[string, string, string] | undefined> {
  const { path, mine, base, theirs, isPinned } = one;
  const sides = [base, mine, theirs];
  const isText = isPinned && sides.every((side) => side?.type === 'file' && side.stat.size <= MAX_MERGED_BYTES);
  if (!isText) return undefined;
  const bytes: Buffer[] = [];
  for (const side of sides) bytes.push(await contents.read({ path, entry: side! }));
  if (!bytes.every((one) => isUtf8(one) && !one.includes(0))) return undefined;
  return bytes.map(String) as [string, string, string];
}
