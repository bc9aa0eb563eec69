/**
 * Writes entries of archives into a directory that no name in them can leave.
 *
 * Symlinks are data here: the system never follows one. Where a parent in a path is a symlink, its target is resolved
 * name by name inside the root, as it would be from inside the image. The directory is private until it is complete, so
 * nothing changes between a check and its use.
 */
import {
  chmodSync,
  closeSync,
  fchmodSync,
  fchownSync,
  futimesSync,
  lchownSync,
  linkSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeSync,
  type Stats,
} from 'node:fs';

import type { ByteString } from '#host';
import { ArchiveError } from './archive-error.ts';
import type { TarHeader } from './tar-header.ts';

/** Owner, mode and mtime of an entry. */
export type EntryFacts = Pick<TarHeader, 'mode' | 'uid' | 'gid' | 'mtimeSecs'>;

/** Most symlinks in one path before it counts as a loop; the limit of Linux. */
const MAX_LINKS = 40;

/** mtime of entries that have none. Not 1970: zip, and so Python's wheels, cannot store a time before 1980. */
export const EPOCH_SECS = 1_735_689_600;

const IMPLIED_DIRECTORY: EntryFacts = { mode: 0o755, uid: 0, gid: 0, mtimeSecs: EPOCH_SECS };
const ASCII = /^[\x00-\x7f]*$/;

/** Paths are bytes, relative to the root; the root itself is the empty path. */
export class TreeWriter {
  readonly #root: string;
  /** Only root can chown; a tree of another user belongs to that user. */
  readonly #keepsOwners = process.getuid?.() === 0;
  readonly #resolved = new Map<string, string>();
  /** Set at the end, deepest first: a read-only directory must still be filled, and filling it changes its mtime. */
  readonly #directories = new Map<string, EntryFacts>([['', IMPLIED_DIRECTORY]]);

  constructor(root: string) {
    this.#root = root;
  }

  /** The real path of an entry: its parents without symlinks, created if missing. */
  resolve(path: string): string {
    const slash = path.lastIndexOf('/');
    const parent = this.#directoryAt(path.slice(0, Math.max(slash, 0)));
    return join(parent, path.slice(slash + 1));
  }

  directory(path: string, facts: EntryFacts): void {
    if (!this.stat(path)?.isDirectory()) {
      this.remove(path);
      mkdirSync(this.#at(path), 0o700);
    }
    this.#directories.set(path, facts);
  }

  async file(path: string, facts: EntryFacts, body: AsyncIterable<Uint8Array>): Promise<void> {
    this.remove(path);
    const fd = openSync(this.#at(path), 'wx', 0o600);
    try {
      for await (const piece of body) writeFully(fd, piece);
      if (this.#keepsOwners) fchownSync(fd, facts.uid, facts.gid);
      // Neither setuid nor setgid: no process in a sandbox changes its user by running a file of its image.
      fchmodSync(fd, facts.mode & 0o777);
      futimesSync(fd, facts.mtimeSecs, facts.mtimeSecs);
    } finally {
      closeSync(fd);
    }
  }

  symlink(path: string, target: ByteString, facts: EntryFacts): void {
    this.remove(path);
    symlinkSync(asPath(target), this.#at(path));
    if (this.#keepsOwners) lchownSync(this.#at(path), facts.uid, facts.gid);
    lutimesSync(this.#at(path), facts.mtimeSecs, facts.mtimeSecs);
  }

  /** A hard link to an existing file. */
  link(path: string, target: string, facts: EntryFacts): void {
    const existing = this.stat(target);
    if (!existing || existing.isDirectory())
      throw new ArchiveError(`${path} is a hard link to ${target}, which is not a file`);
    if (path === target) return;
    // Links to a symlink as a new symlink: some systems would make the hard link to its target.
    if (existing.isSymbolicLink()) return this.symlink(path, this.#targetOf(target), facts);
    this.remove(path);
    linkSync(this.#at(target), this.#at(path));
  }

  remove(path: string): void {
    const stat = this.stat(path);
    if (!stat) return;

    rmSync(this.#at(path), { recursive: true });
    if (stat.isDirectory()) this.#forget(path);
    if (stat.isDirectory() || stat.isSymbolicLink()) this.#resolved.clear();
  }

  stat(path: string): Stats | undefined {
    return lstatSync(this.#at(path), { throwIfNoEntry: false });
  }

  names(path: string): ByteString[] {
    return readdirSync(this.#at(path), { encoding: 'buffer' }).map((name) => name.toString('latin1') as ByteString);
  }

  /** Sets mode, owner and mtime of every directory. Nothing is written afterwards. */
  finish(): void {
    const deepestFirst = [...this.#directories].toSorted(([a], [b]) => depthOf(b) - depthOf(a));
    for (const [path, { mode, uid, gid, mtimeSecs }] of deepestFirst) {
      const at = this.#at(path);
      if (this.#keepsOwners) lchownSync(at, uid, gid);
      // Without root, the owner must be able to remove the image again.
      chmodSync(at, this.#keepsOwners ? mode & 0o1777 : (mode & 0o1777) | 0o700);
      utimesSync(at, mtimeSecs, mtimeSecs);
    }
  }

  /** Resolves a path to a directory inside the root, created if missing. */
  #directoryAt(path: string): string {
    const known = this.#resolved.get(path);
    if (known !== undefined) return known;

    let real = '';
    let links = 0;
    const names = path.split('/').toReversed();
    for (let name = names.pop(); name !== undefined; name = names.pop()) {
      if (name === '' || name === '.') continue;
      if (name === '..') {
        real = real.slice(0, Math.max(real.lastIndexOf('/'), 0));
        continue;
      }

      const next = join(real, name);
      const stat = this.stat(next);
      if (stat?.isSymbolicLink()) {
        if (++links > MAX_LINKS) throw new ArchiveError(`${path} contains a loop of symlinks`);
        const target = this.#targetOf(next);
        if (target.startsWith('/')) real = '';
        names.push(...target.split('/').toReversed());
        continue;
      }
      if (!stat) this.directory(next, IMPLIED_DIRECTORY);
      else if (!stat.isDirectory()) throw new ArchiveError(`${path} goes through ${next}, which is a file`);
      real = next;
    }
    this.#resolved.set(path, real);
    return real;
  }

  #targetOf(link: string): ByteString {
    return readlinkSync(this.#at(link), { encoding: 'buffer' }).toString('latin1') as ByteString;
  }

  #forget(path: string): void {
    this.#directories.delete(path);
    for (const below of this.#directories.keys()) {
      if (below.startsWith(`${path}/`)) this.#directories.delete(below);
    }
  }

  #at(path: string): string | Buffer {
    if (path === '') return this.#root;
    if (ASCII.test(path)) return `${this.#root}/${path}`;
    return Buffer.concat([Buffer.from(`${this.#root}/`), Buffer.from(path, 'latin1')]);
  }
}

function asPath(bytes: ByteString): string | Buffer {
  return ASCII.test(bytes) ? bytes : Buffer.from(bytes, 'latin1');
}

function join(parent: string, name: string): string {
  return parent === '' ? name : `${parent}/${name}`;
}

function depthOf(path: string): number {
  return path.split('/').length;
}

function writeFully(fd: number, piece: Uint8Array): void {
  for (let written = 0; written < piece.length;) written += writeSync(fd, piece, written);
}
