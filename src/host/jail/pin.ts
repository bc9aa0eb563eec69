/**
 * A pin refers to one object of the file system while it is checked and used, so that it cannot be swapped in between.
 *
 * Two implementations: by a descriptor (`pin-by-descriptor.ts`), and by a path that is checked again after use
 * (`pin-by-path.ts`), for systems without `/proc`.
 */
import { closeSync, type Stats } from 'node:fs';

import { toBytes, toText, type ByteString } from '../text/byte-string.ts';
import type { SystemCalls } from '../system/system-calls.ts';
import type { View } from '../layers/layer.ts';
import type { EntryStat } from '../walk/entry-kind.ts';

export interface Pin {
  /** Canonical path from the root with `/`; empty for the root itself. */
  readonly relativePath: string;
  readonly stat: Stats;
  readonly isHidden: Bounds['isHidden'];
  /** System calls for descriptors from `openChild`; undefined where they are not available. */
  readonly calls?: SystemCalls | undefined;
  /** Opens the pinned object itself. */
  open(flags: number): number;
  /** A path to a name in the pinned directory. After using it the caller has to call `recheck`. */
  at(name: ByteString): Buffer;
  /** The lstat of a name in the pinned directory; undefined if it does not exist. */
  lstat(name: ByteString): EntryStat | undefined;
  /** Makes a hard link at `to` to a name in the pinned directory; a symlink is not followed. */
  link(name: ByteString, to: string): void;
  /** Throws if the path may have referred to another object. */
  recheck(): void;
  /** Pins a name in the pinned directory; does not follow a symlink. */
  child(name: ByteString): Pin;
  /** Opens a name in the pinned directory; fails for a symlink. */
  openChild(name: ByteString, flags: number): number;
  /** Sets the permission bits of the pinned object. */
  chmod(mode: number): void;
  /** Sets its owner; -1 keeps the current user or group. */
  chown(uid: number, gid: number): void;
  close(): void;
}

/** The same pin without ownership: `close` does nothing. */
export function borrowed(pin: Pin): Pin {
  return {
    relativePath: pin.relativePath,
    get stat() {
      return pin.stat;
    },
    isHidden: pin.isHidden,
    calls: pin.calls,
    open: (flags) => pin.open(flags),
    at: (name) => pin.at(name),
    lstat: (name) => pin.lstat(name),
    link: (name, to) => pin.link(name, to),
    recheck: () => pin.recheck(),
    child: (name) => pin.child(name),
    openChild: (name, flags) => pin.openChild(name, flags),
    chmod: (mode) => pin.chmod(mode),
    chown: (uid, gid) => pin.chown(uid, gid),
    close() {},
  };
}

/**
 * Resolves a path from the root, following symlinks, and pins the result. Undefined if it is outside; throws an errno
 * error if it cannot be resolved.
 */
export type PinPath = (parts: readonly string[]) => Pin | undefined;

/** The directory that paths are relative to, and which canonical paths are inside. */
export interface Bounds {
  readonly start: ByteString;
  /** The path from `start`; undefined if it is outside. */
  relative(canonical: ByteString): string | undefined;
  /** The path of names from `start`, assuming that none is a symlink; undefined if it is outside. */
  linkless(names: readonly string[]): LinklessPath | undefined;
  /** The mount that paths below its root are opened in; without it that of this process. */
  readonly view?: View | undefined;
  /** Canonical paths from `start` that look missing, with everything below them. */
  readonly isHidden?: (relativePath: string) => boolean;
}

/** One path, from the root of the file system and from the start of the bounds. */
export interface LinklessPath {
  absolute: string;
  relative: string;
}

/** Bounds that contain the roots and everything below them, with paths relative to `start`. */
export function boundsOf(start: ByteString, roots: readonly ByteString[]): Bounds {
  const isInside = (path: ByteString) => roots.some((root) => pathBelow(root, path) !== undefined);
  const isAllInside = isInside(start);
  const prefix = prefixOf(start);
  return {
    start,
    relative: (path) => (isInside(path) ? pathBelow(start, path) : undefined),
    linkless(names) {
      // Node writes a lone surrogate as U+FFFD, so the path is reported with the same character.
      const relative = names.join('/').toWellFormed();
      const absolute = `${prefix}/${relative}`;
      return isAllInside || isInside(toBytes(absolute)) ? { absolute, relative } : undefined;
    },
  };
}

/** A directory as a prefix for `/` and names. */
export function prefixOf(start: ByteString): string {
  return start === '/' ? '' : toText(start);
}

export const EVERYTHING = boundsOf('/' as ByteString, ['/' as ByteString]);

/** The part of a canonical path below the root, compared by whole names; undefined if it is not below. */
function pathBelow(root: ByteString, path: ByteString): string | undefined {
  if (path === root) return '';
  const length = root === '/' ? 0 : root.length;
  const isBelow = path.startsWith(root) && path[length] === '/';
  return isBelow ? toText(path.slice(length + 1) as ByteString) : undefined;
}

/** The path of a name in a directory, both from the root. */
export function pathInside(directory: string, name: ByteString): string {
  return directory === '' ? toText(name) : `${directory}/${toText(name)}`;
}

/** Returns the result of `work`; closes the descriptor if it throws. */
export function closingOnFailure<T>(fd: number, work: () => T): T {
  try {
    return work();
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** An errno error for an object that changed between two system calls. */
export function changedMeanwhile(code: 'ENOENT' | 'ESTALE'): NodeJS.ErrnoException {
  return Object.assign(new Error('changed while it was being opened'), { code, errno: 0 });
}
