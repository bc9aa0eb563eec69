/**
 * A directory inside a jail, kept open while its entries are listed and opened.
 *
 * Everything in it is reached through the open object and never through a symlink, so a walk that starts inside stays
 * inside, even if names are swapped meanwhile. Opening costs one check of the descriptor; every step down after that is
 * safe at the cost of an ordinary open.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync, readSync, type Stats } from 'node:fs';

import type { ByteString } from '../text/byte-string.ts';
import type { JailMode } from '../jail/jail.ts';
import { DESCRIPTORS } from '../jail/own-descriptors.ts';
import { realPath } from '../jail/pin-by-path.ts';
import { changedMeanwhile, closingOnFailure } from '../jail/pin.ts';
import { isInView, throughView } from '../jail/view-path.ts';
import type { View } from '../layers/layer.ts';

export interface WalkDir {
  /** From the root of the jail; empty for the root itself. */
  readonly path: ByteString;
  /** The path to list. Call `recheck` afterwards, before trusting the names. */
  readonly listPath: string | Buffer;
  /** A size that grows with the number of entries. */
  readonly size: number;
  /**
   * Where the system call is available: writes the next entries as the kernel has them; returns the number of bytes, 0
   * at the end.
   */
  readEntries?(into: Uint8Array): number;
  /** Stats a name, symlinks not followed. */
  lstat(name: ByteString): Stats;
  /** Opens a file for reading. If it is something else by now, this or the read fails. */
  openFile(name: ByteString): number;
  /** Reads from the file's position; returns the number of bytes. */
  read(fd: number, into: Buffer): number;
  openDir(name: ByteString): WalkDir;
  /** Throws when the listed directory may have been another one. */
  recheck(): void;
  close(): void;
}

export type OpenWalkDir = (path: ByteString) => WalkDir;

// Not in node:fs; the same number on every architecture that Node supports.
const O_PATH = 0o10000000;

export const DIR_FLAGS = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;
export const FILE_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

interface WalkOptions {
  readonly OpenedDir?: typeof DescriptorDir;
  /** The mount through which the root is used. */
  readonly view?: Pick<View, 'fd' | 'mountId'> | undefined;
}

/** Opens directories by their canonical path from the root; throws an errno error when one does not exist. */
export function walkDirsBelow(
  root: ByteString,
  mode: JailMode,
  { OpenedDir = DescriptorDir, view }: WalkOptions = {},
): OpenWalkDir {
  const prefix = root === '/' ? '' : root;
  const absolute = (path: ByteString) => (path === '' ? root : `${prefix}/${path}`) as ByteString;
  const inView = view && { fd: view.fd, root };
  if (mode === 'portable') return (path) => new PathDir(path, absolute(path));

  return (path) => {
    const fd = openSync(toPath(inView ? throughView(inView, absolute(path)) : absolute(path)), DIR_FLAGS);
    return closingOnFailure(fd, () => {
      if (!isOpenedAt(absolute(path), fd, view)) throw changedMeanwhile('ENOENT');
      return new OpenedDir(path, fd);
    });
  };
}

/** Whether the path of an opened directory is still this one, in the mount of the view if there is one. */
export function isOpenedAt(absolute: ByteString, fd: number, view: WalkOptions['view']): boolean {
  return readlinkSync(`${DESCRIPTORS}/${fd}`, 'latin1') === absolute && (!view || isInView(fd, view));
}

export function joinPath(dir: ByteString, name: ByteString): ByteString {
  return (dir === '' ? name : `${dir}/${name}`) as ByteString;
}

export class DescriptorDir implements WalkDir {
  readonly path: ByteString;
  protected readonly descriptorPath: string;
  protected fd: number;

  constructor(path: ByteString, fd: number) {
    this.path = path;
    this.fd = fd;
    this.descriptorPath = `${DESCRIPTORS}/${fd}`;
  }

  get listPath(): string {
    return this.descriptorPath;
  }

  get size(): number {
    return fstatSync(this.fd).size;
  }

  lstat(name: ByteString): Stats {
    return lstatSync(toPath(`${this.descriptorPath}/${name}`));
  }

  openFile(name: ByteString): number {
    return openSync(toPath(`${this.descriptorPath}/${name}`), FILE_FLAGS);
  }

  read(fd: number, into: Buffer): number {
    return readSync(fd, into);
  }

  openDir(name: ByteString): WalkDir {
    return new DescriptorDir(joinPath(this.path, name), openSync(toPath(`${this.descriptorPath}/${name}`), DIR_FLAGS));
  }

  recheck(): void {}

  close(): void {
    if (this.fd < 0) return;
    closeSync(this.fd);
    this.fd = -1;
  }
}

/** Weaker: it checks again after each use, and two swaps between two checks go unnoticed. */
class PathDir implements WalkDir {
  readonly path: ByteString;
  readonly listPath: Buffer;
  readonly size: number;
  readonly #absolute: ByteString;
  readonly #inode: bigint;

  constructor(path: ByteString, absolute: ByteString) {
    this.path = path;
    this.#absolute = absolute;
    this.listPath = Buffer.from(absolute, 'latin1');
    const stat = lstatSync(this.listPath, { bigint: true });
    if (!stat.isDirectory()) throw changedMeanwhile('ENOENT');
    this.#inode = stat.ino;
    this.size = Number(stat.size);
    this.recheck();
  }

  lstat(name: ByteString): Stats {
    const stat = lstatSync(toPath(`${this.#absolute}/${name}`));
    this.recheck();
    return stat;
  }

  openFile(name: ByteString): number {
    const fd = openSync(toPath(`${this.#absolute}/${name}`), FILE_FLAGS);
    closingOnFailure(fd, () => this.recheck());
    return fd;
  }

  read(fd: number, into: Buffer): number {
    return readSync(fd, into);
  }

  openDir(name: ByteString): WalkDir {
    const dir = new PathDir(joinPath(this.path, name), `${this.#absolute}/${name}` as ByteString);
    this.recheck();
    return dir;
  }

  recheck(): void {
    const isSame = realPath(this.listPath) === this.#absolute;
    if (!isSame || lstatSync(this.listPath, { bigint: true }).ino !== this.#inode) throw changedMeanwhile('ESTALE');
  }

  close(): void {}
}

const ASCII = /^[\x00-\x7f]*$/;

/** Bytes in the form that the file functions take: text where both are equal. */
export function toPath(bytes: string): string | Buffer {
  return ASCII.test(bytes) ? bytes : Buffer.from(bytes, 'latin1');
}
