/**
 * Replaces a file atomically: writes a temporary file in the same directory and renames it.
 *
 * Readers see the old or the new file, also after a crash. The new one gets the permission bits of the old, its access
 * list and attributes (`file-access.ts`) and, as far as the system permits, its owner. Other hard links keep the old
 * content; the reply notes that.
 */
import { createHash, type Hash } from 'node:crypto';
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

import { ReplacedFile, isSameFile } from './replaced-file.ts';
import { sweepOnce, tempName } from './atomic-write-temp.ts';
import { accessOf, grantedBits, setAccess, type FileAccess, type KeptOwner } from './file-access.ts';
import type { RecordFirst } from './recorded-change.ts';
import type { ByteString } from '../text/byte-string.ts';
import { HostError } from '../host-error.ts';
import type { JailEntry } from '../jail/jail-entry.ts';
import { PERMISSION_BITS } from './permissions.ts';
import { changedMeanwhile } from '../jail/pin.ts';
import { fstatOf } from '../system/stat-calls.ts';

export interface WriteOptions {
  /** Permission bits, whatever the umask; when left out those of the file that is replaced, or 0644. */
  mode?: number;
  /** Whether to return only when the file and its name are on the disk. */
  isSynced: boolean;
  /** Access to set; default: that of the replaced file. */
  access?: FileAccess | undefined;
  /** Records the replaced file in the journal; called once all bytes of the new file are written. */
  recordFirst?: RecordFirst;
  /** File whose owner and times are copied; default: the owner of the replaced file. */
  like?: Pick<Stats, 'uid' | 'gid' | 'atimeMs' | 'mtimeMs'>;
}

/** Notes for the caller of a write. */
export interface Written {
  note?: string;
}

interface WriteWholeOptions extends WriteOptions {
  /** Content of the file, if the caller has just read it. */
  before?: Uint8Array;
}

const CREATE_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** Up to this size a write is synchronous: cheaper than a round trip to the thread pool. */
const SMALL_BYTES = 1 << 20;

/** Bytes compared at once: most files that differ do so near the start, or in size. */
const COMPARED_AT_ONCE = 1 << 16;

/** Errors of `link` on a file system that has no hard links. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

const writeLater = promisify(write);
const syncLater = promisify(fsync);

/** Writes these bytes to a file; writes nothing if it has them already. */
export async function writeWhole(entry: JailEntry, bytes: Uint8Array, options: WriteWholeOptions): Promise<Written> {
  if (isAlready(entry, bytes, options)) return {};

  using pending = await PendingFile.at(entry);
  await pending.append(bytes);
  return await pending.commit(options);
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
  readonly #sum: Hash | undefined;

  private constructor(entry: JailEntry, { isHashed }: { isHashed: boolean }) {
    this.#entry = entry;
    this.#sum = isHashed ? createHash('sha256') : undefined;
    this.#fd = this.#act((temp) => openSync(temp, CREATE_FLAGS, 0o600));
  }

  /** Begins a file that will replace the entry, which must be a regular file or missing. */
  static async at(entry: JailEntry, { isHashed = false } = {}): Promise<PendingFile> {
    if (entry.stat && !entry.stat.isFile()) throw new HostError('not-a-file', entry.path);
    await sweepOnce(entry);
    return new PendingFile(entry, { isHashed });
  }

  async append(bytes: Uint8Array): Promise<void> {
    try {
      this.#sum?.update(bytes);
      for (let done = 0; done < bytes.length;) done += await this.#write(bytes.subarray(done));
    } catch (error) {
      throw HostError.fromErrno(error, this.#entry.path);
    }
  }

  /** Version (hash) of the bytes written so far; undefined if the file is not hashed. */
  get version(): string | undefined {
    return this.#sum && `sha256:${this.#sum.copy().digest('hex')}`;
  }

  /** Renames it over the entry, or over `target` if the path was resolved again; fails if the target changed since. */
  async commit(options: WriteOptions, target = this.#entry): Promise<Written> {
    const old = target.stat;
    const { recordFirst } = options;
    requireFile(target);
    const link = recordFirst && (await recordFirst.link());
    await this.#finish(options, target, link);
    const recorded = await recordFirst?.note(fstatOf(this.#fd));
    const isKept = link !== undefined;
    try {
      this.#act((temp) => target.act((at) => (old ? replace(temp, at, target, { isKept }) : putNew(temp, at))));
    } catch (error) {
      recorded?.cancel();
      throw error;
    }
    this.#isPending = false;
    if (options.isSynced) await target.syncDirectory();
    return withNote(linksNote(old), recorded?.note);
  }

  /** Completes the temporary file beside the entry; the caller renames it. */
  async seal(options: WriteOptions): Promise<{ name: ByteString; stat: Stats }> {
    await this.#finish(options, this.#entry);
    this.#isPending = false;
    return { name: this.#name, stat: fstatSync(this.#fd) };
  }

  /** `link`: a hard link to the replaced file, at a path that no other program changes. */
  async #finish(options: WriteOptions, target: JailEntry, link?: string): Promise<void> {
    requireFile(target);
    try {
      this.#takeOver(options, target, link);
      if (options.like) futimesSync(this.#fd, secondsOf(options.like.atimeMs), secondsOf(options.like.mtimeMs));
      if (options.isSynced) await syncLater(this.#fd);
    } catch (error) {
      throw HostError.fromErrno(error, this.#entry.path);
    }
  }

  /** Sets the owner first: chown clears set-id bits, which a file of another owner must not keep. */
  #takeOver({ mode, like, access }: WriteOptions, target: JailEntry, link?: string): void {
    const old = target.stat;
    const owner = like ?? old;
    const kept = owner ? keepOwner(this.#fd, owner) : { isOwnerKept: true, isGroupKept: true };
    const before = access ?? (old && accessBefore(target, old, link));
    if (before) setAccess(this.#fd, before, kept, target.path);
    if (mode !== undefined || !before) fchmodSync(this.#fd, grantedBits(mode ?? 0o644, kept));
  }

  /** Removes the temporary file if it was not committed. */
  [Symbol.dispose](): void {
    closeSync(this.#fd);
    if (!this.#isPending) return;
    try {
      this.#act(unlinkSync);
    } catch {
      // A later sweep removes it.
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

/** Node before 24 truncates times to microseconds; adding half of one rounds. */
const CUT_SECS = Number.parseInt(process.versions.node, 10) < 24 ? 5e-7 : 0;

function secondsOf(ms: number): number {
  return ms / 1000 + CUT_SECS;
}

function keepOwner(fd: number, { uid, gid }: Pick<Stats, 'uid' | 'gid'>): KeptOwner {
  const mine = fstatSync(fd);
  const isWhole = (mine.uid === uid && mine.gid === gid) || mayChown(fd, uid, gid);
  if (isWhole) return { isOwnerKept: true, isGroupKept: true };
  return { isOwnerKept: mine.uid === uid, isGroupKept: mine.gid === gid || mayChown(fd, -1, gid) };
}

function mayChown(fd: number, uid: number, gid: number): boolean {
  try {
    fchownSync(fd, uid, gid);
    return true;
  } catch {
    return false;
  }
}

function requireFile({ stat, path }: JailEntry): void {
  if (stat && !stat.isFile()) throw new HostError('not-a-file', path);
}

/** Reads the access of the old file; fails if another file has replaced it meanwhile. */
function accessBefore(target: JailEntry, old: Stats, link: string | undefined): FileAccess {
  if (link !== undefined) return accessOf(link, old.mode, target.path);
  return target.act((at) => {
    using replaced = new ReplacedFile(at);
    if (!isSameFile(replaced.stat, old)) throw changedMeanwhile('ESTALE');
    return accessOf(replaced.attributed(at), old.mode, target.path);
  });
}

/** With `isKept` the journal has a hard link to the old file: the rename does not free it, so it is not kept open. */
export function replace(temp: Buffer, at: Buffer, entry: JailEntry, { isKept = false } = {}): void {
  using replaced = isKept ? undefined : new ReplacedFile(at);
  if (!replaced) entry.requireUnchanged();
  else if (!isSameFile(replaced.stat, entry.stat!)) throw changedMeanwhile('ESTALE');
  renameSync(temp, at);
}

/** Fails if the path exists by now. Without hard links, an entry made between the lstat and the rename is replaced. */
export function putNew(temp: Buffer, target: Buffer): void {
  try {
    linkSync(temp, target);
  } catch (error) {
    const isUnlinkable = NO_LINKS.has((error as NodeJS.ErrnoException).code!);
    if (!isUnlinkable || lstatSync(target, { throwIfNoEntry: false })) throw error;
    renameSync(temp, target);
    return;
  }
  unlinkSync(temp);
}

function withNote(...notes: (string | undefined)[]): Written {
  const known = notes.filter((note) => note !== undefined);
  return known.length > 0 ? { note: known.join('; ') } : {};
}

/** Note about the other hard links of a replaced file. */
export function linksNote(old: Stats | undefined): string | undefined {
  const others = (old?.nlink ?? 1) - 1;
  if (others <= 0) return undefined;
  return others === 1 ? '1 other hard link keeps the old content' : `${others} other hard links keep the old content`;
}
