/**
 * A directory of the jail, pinned while it is listed.
 *
 * Names and kinds are read through the pin, never through the path again.
 */
import {
  opendirSync,
  readdirSync,
  readlinkSync,
  rmdirSync,
  statfsSync,
  unlinkSync,
  type Dirent,
  type Stats,
} from 'node:fs';

import type { ByteString } from '../text/byte-string.ts';
import { kindOf, type EntryStat } from '../walk/entry-kind.ts';
import { HostError } from '../host-error.ts';
import { JailFile } from './jail-file.ts';
import type { ListedEntry } from './jail-list.ts';
import { applyPermissions, type Permissions } from '../changes/permissions.ts';
import { borrowed, changedMeanwhile, pathInside, type Pin } from './pin.ts';

/** About two milliseconds of reading. */
export const NAMES_AT_ONCE = 4096;

/** Up to this size a directory has few names, and one readdir is three times faster than batches. */
export const SMALL_DIRECTORY_BYTES = 32_768;

export class JailDir {
  readonly #pin: Pin;
  #borrowed: Pin | undefined;
  readonly #path: string;

  constructor(pin: Pin, path: string) {
    this.#pin = pin;
    this.#path = path;
  }

  /** Takes the pin over if it is a directory; else closes it and throws. */
  static of(pin: Pin, path: string): JailDir {
    if (pin.stat.isDirectory()) return new JailDir(pin, path);

    pin.close();
    throw new HostError('not-a-directory', path);
  }

  get relativePath(): string {
    return this.#pin.relativePath;
  }

  get stat(): Stats {
    return this.#pin.stat;
  }

  /** The pin, valid until this directory is closed; closing the returned pin has no effect. */
  get pin(): Pin {
    return (this.#borrowed ??= borrowed(this.#pin));
  }

  /** The names in it, unsorted, in batches, so that the caller can yield to other calls in between. */
  *names(): Generator<ByteString[]> {
    for (const names of this.allNames()) yield this.#shown(names, (name) => name);
  }

  /** The names with the hidden ones. */
  *allNames(): Generator<ByteString[]> {
    try {
      if (this.stat.size > SMALL_DIRECTORY_BYTES) yield* this.#inBatches(({ name }) => name as ByteString);
      else yield this.#namesAtOnce();
    } catch (error) {
      throw HostError.fromErrno(error, this.#path);
    }
  }

  #namesAtOnce(): ByteString[] {
    const names = readdirSync(this.#pin.at('.' as ByteString), { encoding: 'latin1' });
    this.#pin.recheck();
    return names as ByteString[];
  }

  /** The names with their kinds; no stat is needed where readdir returns the kind. */
  *entries(): Generator<ListedEntry[]> {
    try {
      const batches =
        this.stat.size > SMALL_DIRECTORY_BYTES ? this.#inBatches((entry) => this.#listed(entry)) : [this.#allEntries()];
      for (const entries of batches) yield this.#shown(entries, ({ name }) => name);
    } catch (error) {
      throw HostError.fromErrno(error, this.#path);
    }
  }

  #allEntries(): ListedEntry[] {
    try {
      const entries = readdirSync(this.#pin.at('.' as ByteString), { encoding: 'latin1', withFileTypes: true });
      this.#pin.recheck();
      return entries.map((entry) => this.#listed(entry));
    } catch (error) {
      // Where readdir returns no kind, Node calls lstat with the name as UTF-8, which fails for other bytes.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      return this.#namesAtOnce().map((name) => this.#byStat(name));
    }
  }

  /** Drops hidden entries. */
  #shown<T>(listed: T[], nameOf: (item: T) => ByteString): T[] {
    return this.#pin.isHidden ? listed.filter((item) => !this.#isHidden(nameOf(item))) : listed;
  }

  #isHidden(name: ByteString): boolean {
    return this.#pin.isHidden?.(this.pathOf(name)) ?? false;
  }

  *#inBatches<T>(take: (entry: Dirent) => T): Generator<T[]> {
    const dir = opendirSync(this.#pin.at('.' as ByteString), { encoding: 'latin1', bufferSize: 1024 });
    try {
      this.#pin.recheck();
      let batch: T[] = [];
      for (let entry = dir.readSync(); entry; entry = dir.readSync()) {
        batch.push(take(entry));
        if (batch.length < NAMES_AT_ONCE) continue;
        yield batch;
        batch = [];
      }
      yield batch;
    } finally {
      dir.closeSync();
    }
  }

  /** Falls back to lstat on file systems whose readdir returns no kind. */
  #listed(entry: Dirent): ListedEntry {
    const name = entry.name as ByteString;
    const kind = kindOf(entry);
    return kind === 'other' ? this.#byStat(name) : { name, kind };
  }

  #byStat(name: ByteString): ListedEntry {
    return { name, kind: this.lstat(name)?.kind ?? 'other' };
  }

  /** The lstat of a name; undefined if it does not exist. */
  lstat(name: ByteString): EntryStat | undefined {
    return this.#isHidden(name) ? undefined : this.lstatListed(name);
  }

  /** The same for a name that this directory listed, so that it is not hidden. */
  lstatListed(name: ByteString): EntryStat | undefined {
    try {
      const stat = this.#pin.lstat(name);
      this.#pin.recheck();
      return stat;
    } catch (error) {
      throw HostError.fromErrno(error, this.#path);
    }
  }

  /** `f_type` of statfs. */
  fileSystemType(): number {
    try {
      return statfsSync(this.#pin.at('.' as ByteString)).type;
    } catch (error) {
      throw HostError.fromErrno(error, this.#path);
    }
  }

  /** Pins a directory in this one. Refuses a symlink to a directory. */
  openDir(name: ByteString): JailDir {
    const path = this.pathOf(name);
    try {
      return JailDir.of(this.#child(name), path);
    } catch (error) {
      throw HostError.fromErrno(error, path);
    }
  }

  /** Opens a file in this one for reading. Refuses a symlink to a file. */
  openFile(name: ByteString): JailFile {
    const path = this.pathOf(name);
    try {
      const pin = this.#child(name);
      try {
        return JailFile.of(pin, path);
      } finally {
        pin.close();
      }
    } catch (error) {
      throw HostError.fromErrno(error, path);
    }
  }

  #child(name: ByteString): Pin {
    if (this.#isHidden(name)) throw changedMeanwhile('ENOENT');
    return this.#pin.child(name);
  }

  /** The target of a symlink in this one, unresolved. */
  readLink(name: ByteString): Buffer {
    try {
      const linkTarget = readlinkSync(this.#pin.at(name), 'buffer');
      this.#pin.recheck();
      return linkTarget;
    } catch (error) {
      throw HostError.fromErrno(error, this.pathOf(name));
    }
  }

  /** The path of a name in it, from the root. */
  pathOf(name: ByteString): string {
    return pathInside(this.relativePath, name);
  }

  /** Sets the permission bits and the owner of a name in it; does nothing for a symlink. */
  setPermissions(name: ByteString, permissions: Permissions): void {
    const path = this.pathOf(name);
    try {
      const pin = this.#pin.child(name);
      try {
        if (!pin.stat.isSymbolicLink()) applyPermissions(pin, permissions);
      } finally {
        pin.close();
      }
    } catch (error) {
      throw HostError.fromErrno(error, path);
    }
  }

  /** Removes an empty directory or any other entry. Does nothing if the name does not exist. */
  remove(name: ByteString, kind: 'directory' | 'other'): void {
    try {
      this.#pin.recheck();
      if (kind === 'directory') rmdirSync(this.#pin.at(name));
      else unlinkSync(this.#pin.at(name));
      this.#pin.recheck();
    } catch (error) {
      const failure = HostError.fromErrno(error, this.pathOf(name));
      if (failure.reason !== 'missing') throw failure;
    }
  }

  close(): void {
    this.#pin.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
