/**
 * Pins by descriptor: opens with `O_PATH`, then reads the canonical path from `/proc/<pid>/fd/N`.
 *
 * `O_PATH` has no side effects on a FIFO, a device or anything outside. The object is then opened for reading through
 * that descriptor, so it cannot be swapped.
 */
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  fstatSync,
  linkSync,
  lstatSync,
  openSync,
  readlinkSync,
  type Stats,
} from 'node:fs';

import { toBytes, type ByteString } from '../text/byte-string.ts';
import { entryStatOf, type EntryStat } from '../walk/entry-kind.ts';
import { DESCRIPTORS } from './own-descriptors.ts';
import { isInView, throughView } from './view-path.ts';
import {
  changedMeanwhile,
  closingOnFailure,
  pathInside,
  prefixOf,
  type Bounds,
  type Pin,
  type PinPath,
} from './pin.ts';
import type { SystemCalls } from '../system/system-calls.ts';

// Not in node:fs; the same number on every architecture that Node supports.
const O_PATH = 0o10000000;

/** Retries when a file is replaced by rename between open and check. */
const ATTEMPTS = 8;

/** Loads the system calls at the first path, so that a process that uses no files does not load them. */
export function pinByDescriptor(bounds: Bounds, callsToUse: () => SystemCalls | undefined): PinPath {
  const prefix = prefixOf(bounds.start);
  return (parts) => {
    const calls = callsToUse();
    const linkless = pinLinkless(bounds, parts, calls);
    if (linkless) return linkless;

    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const absolute = `${prefix}/${parts.join('/')}`;
      const fd = openSync(bounds.view ? throughView(bounds.view, withoutSlash(absolute)) : absolute, O_PATH);
      const pin = closingOnFailure(fd, () => inspect(bounds, fd, calls));
      if (pin instanceof DescriptorPin) return pin;

      closeSync(fd);
      if (pin === 'outside') return undefined;
    }
    throw changedMeanwhile('ENOENT');
  };
}

/** Pins a path without symlinks, which is canonical already, so /proc is not read. */
function pinLinkless(bounds: Bounds, parts: readonly string[], calls: SystemCalls | undefined): Pin | undefined {
  const path = bounds.view ? undefined : calls && bounds.linkless(parts);
  const fd = path && calls!.openLinkless(path.absolute, O_PATH);
  return fd === undefined
    ? undefined
    : closingOnFailure(fd, () => new DescriptorPin(fd, path!.relative, bounds, calls));
}

/** Whether /proc shows the canonical path of a descriptor, tried on this directory. */
export function canPinByDescriptor(root: ByteString): boolean {
  if (process.platform !== 'linux') return false;
  try {
    const fd = openSync(Buffer.from(root, 'latin1'), O_PATH);
    try {
      return readlinkSync(pathOf(fd), 'latin1') === root;
    } finally {
      closeSync(fd);
    }
  } catch {
    return false;
  }
}

class DescriptorPin implements Pin {
  readonly relativePath: string;
  readonly isHidden: Bounds['isHidden'];
  readonly calls: SystemCalls | undefined;
  #fd: number;
  #stat: Stats | undefined;

  constructor(fd: number, relativePath: string, { isHidden }: Pick<Bounds, 'isHidden'>, calls?: SystemCalls) {
    this.#fd = fd;
    this.calls = calls;
    this.isHidden = isHidden;
    this.relativePath = relativePath;
  }

  /** Read when it is first needed: an entry in a pinned directory needs it seldom. */
  get stat(): Stats {
    return (this.#stat ??= fstatSync(this.#fd));
  }

  open(flags: number): number {
    return openSync(pathOf(this.#fd), flags);
  }

  at(name: ByteString): Buffer {
    return Buffer.from(`${pathOf(this.#fd)}/${name}`, 'latin1');
  }

  lstat(name: ByteString): EntryStat | undefined {
    const quick = this.calls?.statAt(this.#fd, name);
    if (quick) return quick;
    const stat = lstatSync(this.at(name), { throwIfNoEntry: false });
    return stat && entryStatOf(stat);
  }

  link(name: ByteString, to: string): void {
    if (!this.calls?.linkAt(this.#fd, name, to)) linkSync(this.at(name), to);
  }

  recheck(): void {}

  child(name: ByteString): Pin {
    const fd = this.openChild(name, O_PATH);
    return closingOnFailure(fd, () => new DescriptorPin(fd, pathInside(this.relativePath, name), this, this.calls));
  }

  openChild(name: ByteString, flags: number): number {
    const unfollowed = flags | constants.O_NOFOLLOW;
    return this.calls?.openAt(this.#fd, name, unfollowed) ?? openSync(this.at(name), unfollowed);
  }

  chmod(mode: number): void {
    chmodSync(pathOf(this.#fd), mode);
  }

  chown(uid: number, gid: number): void {
    chownSync(pathOf(this.#fd), uid, gid);
  }

  close(): void {
    if (this.#fd < 0) return;
    closeSync(this.#fd);
    this.#fd = -1;
  }
}

function pathOf(fd: number): string {
  return `${DESCRIPTORS}/${fd}`;
}

function inspect(bounds: Bounds, fd: number, calls: SystemCalls | undefined): DescriptorPin | 'outside' | 'gone' {
  const link = readlinkSync(pathOf(fd), 'latin1') as ByteString;
  const relativePath = bounds.relative(link);
  if (relativePath === undefined || !isOfMount(bounds, link, fd)) return 'outside';
  return isGone(link, fd, bounds) ? 'gone' : new DescriptorPin(fd, relativePath, bounds, calls);
}

/** Checks the mount too: names below the root of a view are also those of the workspace, which is another mount. */
function isOfMount({ view }: Bounds, link: ByteString, fd: number): boolean {
  if (!view) return true;
  const root = toBytes(view.root);
  return link === root || link.startsWith(`${root}/`) ? isInView(fd, view) : true;
}

/** The root itself has no names after its prefix. */
function withoutSlash(absolute: string): string {
  return absolute.length > 1 && absolute.endsWith('/') ? absolute.slice(0, -1) : absolute;
}

/** The kernel appends ` (deleted)` to the path of an unlinked object; a file may also have such a name. */
function isGone(link: ByteString, fd: number, { view }: Bounds): boolean {
  if (!link.endsWith(' (deleted)')) return false;
  const object = fstatSync(fd, { bigint: true });
  const path = view ? throughView({ ...view, root: toBytes(view.root) }, link) : link;
  const named = lstatSync(Buffer.from(path, 'latin1'), { bigint: true, throwIfNoEntry: false });
  return named?.ino !== object.ino || named.dev !== object.dev;
}
