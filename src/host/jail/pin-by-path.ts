/**
 * Pins by path, for systems without `/proc`: resolves, uses the path, and resolves again.
 *
 * Weaker than a descriptor: a process that swaps a directory out and back between the checks is not detected, and
 * when a swap is detected, a change may already have happened elsewhere.
 */
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  linkSync,
  lstatSync,
  openSync,
  realpathSync,
  type BigIntStats,
  type Stats,
} from 'node:fs';

import type { ByteString } from '../text/byte-string.ts';
import { entryStatOf, type EntryStat } from '../walk/entry-kind.ts';
import {
  changedMeanwhile,
  closingOnFailure,
  pathInside,
  prefixOf,
  type Bounds,
  type Pin,
  type PinPath,
} from './pin.ts';

export function pinByPath(bounds: Bounds): PinPath {
  const prefix = prefixOf(bounds.start);
  return (parts) => {
    const path = realPath(`${prefix}/${parts.join('/')}`);
    const relativePath = bounds.relative(path);
    return relativePath === undefined ? undefined : new PathPin(path, relativePath, bounds);
  };
}

export function realPath(path: string | Buffer): ByteString {
  return realpathSync.native(path, 'latin1') as ByteString;
}

class PathPin implements Pin {
  readonly relativePath: string;
  readonly stat: Stats;
  readonly isHidden: Bounds['isHidden'];
  readonly #path: ByteString;
  readonly #bytes: Buffer;
  readonly #identity: BigIntStats;

  constructor(path: ByteString, relativePath: string, { isHidden }: Pick<Bounds, 'isHidden'>) {
    this.#path = path;
    this.#bytes = Buffer.from(path, 'latin1');
    this.relativePath = relativePath;
    this.isHidden = isHidden;
    this.stat = lstatSync(this.#bytes);
    this.#identity = lstatSync(this.#bytes, { bigint: true });
  }

  open(flags: number): number {
    const fd = openSync(this.#bytes, flags | constants.O_NOFOLLOW);
    closingOnFailure(fd, () => {
      this.#compare(fstatSync(fd, { bigint: true }));
      this.recheck();
    });
    return fd;
  }

  at(name: ByteString): Buffer {
    return Buffer.from(`${this.#path}/${name}`, 'latin1');
  }

  lstat(name: ByteString): EntryStat | undefined {
    const stat = lstatSync(this.at(name), { throwIfNoEntry: false });
    return stat && entryStatOf(stat);
  }

  link(name: ByteString, to: string): void {
    linkSync(this.at(name), to);
  }

  recheck(): void {
    if (realPath(this.#bytes) !== this.#path) throw changedMeanwhile('ESTALE');
    this.#compare(lstatSync(this.#bytes, { bigint: true }));
  }

  child(name: ByteString): Pin {
    const path = (this.#path === '/' ? `/${name}` : `${this.#path}/${name}`) as ByteString;
    const pin = new PathPin(path, pathInside(this.relativePath, name), this);
    this.recheck();
    return pin;
  }

  openChild(name: ByteString, flags: number): number {
    return this.child(name).open(flags);
  }

  chmod(mode: number): void {
    this.#opened((fd) => fchmodSync(fd, mode));
  }

  chown(uid: number, gid: number): void {
    this.#opened((fd) => fchownSync(fd, uid, gid));
  }

  close(): void {}

  #opened(work: (fd: number) => void): void {
    const fd = this.open(constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      work(fd);
    } finally {
      closeSync(fd);
    }
  }

  #compare(found: BigIntStats): void {
    if (found.ino !== this.#identity.ino || found.dev !== this.#identity.dev) throw changedMeanwhile('ESTALE');
  }
}
