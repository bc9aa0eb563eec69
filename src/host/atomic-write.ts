/**
 * A file that comes into being whole: written beside its place under a name of its own, then put there.
 *
 * Whoever looks, and whenever the process dies, there is the old file or the new one. A new one takes over the
 * permission bits of the old and, as far as the system permits, its owner. Access lists and extended attributes
 * are not carried over, and other hard links keep the old content.
 */
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsync,
  futimesSync,
  linkSync,
  lstatSync,
  openSync,
  renameSync,
  unlinkSync,
  write,
  writeSync,
  type Stats,
} from 'node:fs';
import { promisify } from 'node:util';

import { HeldFile } from './atomic-write-held.ts';
import { sweepOnce, tempName } from './atomic-write-temp.ts';
import { HostError } from './host-error.ts';
import type { JailEntry } from './jail-entry.ts';
import { changedMeanwhile } from './pin.ts';

export interface WriteOptions {
  /** Permission bits, whatever the umask; when left out those of the file that is replaced, or 0644. */
  mode?: number;
  /** Whether to return only when the file and its name are on the disk. */
  isSynced: boolean;
  /** A file whose owner and times it takes over, instead of the owner of the one that is replaced. */
  like?: Stats;
}

interface WriteWholeOptions extends WriteOptions {
  /** What the file holds, if the caller has just read it. */
  before?: Uint8Array;
}

const CREATE_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** Up to this size a piece is written at once: a small write is cheaper than going away and coming back. */
const SMALL_BYTES = 1 << 20;

/** Files that differ mostly do so early on, or by their size. */
const COMPARED_AT_ONCE = 1 << 16;

const PERMISSION_BITS = 0o7777;
const SPECIAL_BITS = 0o7000;

/** What `link` says on a file system that has no hard links. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

const writeLater = promisify(write);
const syncLater = promisify(fsync);

/** Gives a file exactly these bytes. Nothing is touched when it has them already. */
export async function writeWhole(entry: JailEntry, bytes: Uint8Array, options: WriteWholeOptions): Promise<void> {
  if (isAlready(entry, bytes, options)) return;

  using pending = await PendingFile.at(entry);
  await pending.append(bytes);
  await pending.commit(options);
}

function isAlready(entry: JailEntry, bytes: Uint8Array, { mode, before }: WriteWholeOptions): boolean {
  if (!entry.stat?.isFile() || entry.stat.size !== bytes.length) return false;
  if (mode !== undefined && mode !== (entry.stat.mode & PERMISSION_BITS)) return false;
  if (before) return Buffer.compare(before, bytes) === 0;

  using file = entry.open();
  const block = Buffer.allocUnsafe(Math.min(bytes.length, COMPARED_AT_ONCE));
  for (let position = 0; position < bytes.length; position += block.length) {
    const length = file.readAt(block, position);
    if (!block.subarray(0, length).equals(bytes.subarray(position, position + block.length))) return false;
  }
  return true;
}

export class PendingFile {
  readonly #entry: JailEntry;
  readonly #name = tempName();
  readonly #fd: number;
  #isPending = true;

  private constructor(entry: JailEntry) {
    this.#entry = entry;
    this.#fd = this.#act((temp) => openSync(temp, CREATE_FLAGS, 0o600));
  }

  /** Begins what is to stand at the entry, where a regular file or nothing stands now. */
  static async at(entry: JailEntry): Promise<PendingFile> {
    if (entry.stat && !entry.stat.isFile()) throw new HostError('not-a-file', entry.path);
    await sweepOnce(entry);
    return new PendingFile(entry);
  }

  async append(bytes: Uint8Array): Promise<void> {
    try {
      for (let done = 0; done < bytes.length;) done += await this.#write(bytes.subarray(done));
    } catch (error) {
      throw HostError.fromErrno(error, this.#entry.path);
    }
  }

  /** Puts it there, or at the entry as it was found later, provided that there is still what was there then. */
  async commit({ mode, isSynced, like }: WriteOptions, place = this.#entry): Promise<void> {
    const old = place.stat;
    if (old && !old.isFile()) throw new HostError('not-a-file', place.path);
    try {
      setOwnerAndMode(this.#fd, like ?? old, mode ?? (old ? old.mode & PERMISSION_BITS : 0o644));
      if (like) futimesSync(this.#fd, like.atime, like.mtime);
      if (isSynced) await syncLater(this.#fd);
    } catch (error) {
      throw HostError.fromErrno(error, this.#entry.path);
    }
    this.#act((temp) => place.act((at) => (old ? replace(temp, at, old) : putNew(temp, at))));
    this.#isPending = false;
    if (isSynced) await place.syncDirectory();
  }

  /** Leaves nothing behind when it was not committed. */
  [Symbol.dispose](): void {
    closeSync(this.#fd);
    if (!this.#isPending) return;
    try {
      this.#act(unlinkSync);
    } catch {
      // Then it is swept one day.
    }
  }

  #act<T>(call: (temp: Buffer) => T): T {
    return this.#entry.act(call, this.#name);
  }

  #write(bytes: Uint8Array): number | Promise<number> {
    if (bytes.length <= SMALL_BYTES) return writeSync(this.#fd, bytes);
    return writeLater(this.#fd, bytes, 0, SMALL_BYTES).then(({ bytesWritten }) => bytesWritten);
  }
}

/** The owner first: changing it clears the bits that lend the owner's rights, which a stranger's file must not keep. */
function setOwnerAndMode(fd: number, old: Stats | undefined, mode: number): void {
  const isKept = !old || keepOwner(fd, old);
  fchmodSync(fd, isKept ? mode : mode & ~SPECIAL_BITS);
}

function keepOwner(fd: number, { uid, gid }: Stats): boolean {
  const mine = fstatSync(fd);
  if (mine.uid === uid && mine.gid === gid) return true;
  return mayChown(fd, uid, gid) || (mayChown(fd, -1, gid) && mine.uid === uid);
}

function mayChown(fd: number, uid: number, gid: number): boolean {
  try {
    fchownSync(fd, uid, gid);
    return true;
  } catch {
    return false;
  }
}

function replace(temp: Buffer, place: Buffer, old: Stats): void {
  using held = new HeldFile(place);
  const now = held.stat;
  const isSame = now.ino === old.ino && now.size === old.size && now.mtimeMs === old.mtimeMs;
  if (!isSame) throw changedMeanwhile('ESTALE');
  renameSync(temp, place);
}

/** Fails when something is there by now. Without hard links, something may come between the look and the rename. */
function putNew(temp: Buffer, place: Buffer): void {
  try {
    linkSync(temp, place);
  } catch (error) {
    const isUnlinkable = NO_LINKS.has((error as NodeJS.ErrnoException).code!);
    if (!isUnlinkable || lstatSync(place, { throwIfNoEntry: false })) throw error;
    renameSync(temp, place);
    return;
  }
  unlinkSync(temp);
}
