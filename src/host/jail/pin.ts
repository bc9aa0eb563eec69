/**
 * A pin holds one object of the file system while it is checked and used, so that no other can take its place.
 *
 * Two ways to hold: by a descriptor (`pin-by-descriptor.ts`), which nothing can exchange, and by a
 * path that is looked at again afterwards (`pin-by-path.ts`), for systems that cannot name a descriptor.
 */
import { closeSync, type Stats } from 'node:fs';

import { toBytes, toText, type ByteString } from '../text/byte-string.ts';
import type { EntryLook } from '../walk/entry-kind.ts';

export interface Pin {
  /** Canonical path from the root with `/`; empty for the root itself. */
  readonly relativePath: string;
  readonly stat: Stats;
  readonly isHidden: Bounds['isHidden'];
  /** Opens the pinned object itself. */
  open(flags: number): number;
  /** How to reach a name in the pinned directory. Whoever used it calls `recheck` before trusting the outcome. */
  at(name: ByteString): Buffer;
  /** What stands under a name in the pinned directory, as `at` reaches it; undefined when nothing does. */
  look(name: ByteString): EntryLook | undefined;
  /** Throws when what was used may have been another object. */
  recheck(): void;
  /** Pins what stands under a name in the pinned directory: a link itself, not what it leads to. */
  child(name: ByteString): Pin;
  /** Opens what stands under a name in the pinned directory, and fails where that is a link. */
  openChild(name: ByteString, flags: number): number;
  /** Sets the permission bits of the pinned object. */
  chmod(mode: number): void;
  /** Sets its owner; -1 leaves one as it is. */
  chown(uid: number, gid: number): void;
  close(): void;
}

/** The same pin for someone who must not let go of it. */
export function borrowed(pin: Pin): Pin {
  return {
    relativePath: pin.relativePath,
    stat: pin.stat,
    isHidden: pin.isHidden,
    open: (flags) => pin.open(flags),
    at: (name) => pin.at(name),
    look: (name) => pin.look(name),
    recheck: () => pin.recheck(),
    child: (name) => pin.child(name),
    openChild: (name, flags) => pin.openChild(name, flags),
    chmod: (mode) => pin.chmod(mode),
    chown: (uid, gid) => pin.chown(uid, gid),
    close() {},
  };
}

/**
 * Finds what a path from the root leads to, links followed, and acts on nothing. Undefined when it
 * lies outside; an errno error when the system does not get there.
 */
export type PinPath = (parts: readonly string[]) => Pin | undefined;

/** Where paths start, and which canonical paths lie inside. */
export interface Bounds {
  readonly start: ByteString;
  /** The path from `start`; undefined when it lies outside. */
  relative(canonical: ByteString): string | undefined;
  /** Where names from `start` lead if no link stands on the way; undefined when that lies outside. */
  linkless(names: readonly string[]): LinklessPath | undefined;
  /** Canonical paths from `start` that look as if nothing were there, with everything below them. */
  readonly isHidden?: (relativePath: string) => boolean;
}

/** The same place from the root of the file system and from where paths start. */
export interface LinklessPath {
  absolute: string;
  relative: string;
}

/** What lies below one of the roots, told from where paths start. */
export function boundsOf(start: ByteString, roots: readonly ByteString[]): Bounds {
  const isInside = (path: ByteString) => roots.some((root) => pathBelow(root, path) !== undefined);
  const isAllInside = isInside(start);
  const prefix = prefixOf(start);
  return {
    start,
    relative: (path) => (isInside(path) ? pathBelow(start, path) : undefined),
    linkless(names) {
      // What is no character comes to the kernel as U+FFFD, and so it has to be told.
      const relative = names.join('/').toWellFormed();
      const absolute = `${prefix}/${relative}`;
      return isAllInside || isInside(toBytes(absolute)) ? { absolute, relative } : undefined;
    },
  };
}

/** A directory as the beginning of an absolute path, which `/` and names make whole. */
export function prefixOf(start: ByteString): string {
  return start === '/' ? '' : toText(start);
}

export const EVERYTHING = boundsOf('/' as ByteString, ['/' as ByteString]);

/** The part of a canonical path below the root, compared by whole names; undefined when it is not below. */
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

/** Gives what the work gives; when it throws, the descriptor is not left open. */
export function closingOnFailure<T>(fd: number, work: () => T): T {
  try {
    return work();
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** An error as a system call makes it, for an object that changed between two of them. */
export function changedMeanwhile(code: 'ENOENT' | 'ESTALE'): NodeJS.ErrnoException {
  return Object.assign(new Error('changed while it was being opened'), { code, errno: 0 });
}
