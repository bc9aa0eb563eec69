/**
 * A name in a directory of the jail, existing or not: the target of a change.
 *
 * The directory is pinned and the name is never followed as a symlink, so a change happens in that directory, even if
 * another process swaps paths meanwhile.
 */
import { closeSync, constants, fsync, lstatSync, mkdirSync, type Stats } from 'node:fs';
import { promisify } from 'node:util';

import type { ByteString } from '../text/byte-string.ts';
import type { Origin } from '../journal/records.ts';
import type { NoteChange } from '../changes/note-change.ts';
import { HostError } from '../host-error.ts';
import { JailDir, SMALL_DIRECTORY_BYTES } from './jail-dir.ts';
import { JailFile, READ_FLAGS } from './jail-file.ts';
import { applyPermissions, type Permissions } from '../changes/permissions.ts';
import { isSameFile } from '../changes/replaced-file.ts';
import { borrowed, changedMeanwhile, pathInside, type Pin } from './pin.ts';

const syncLater = promisify(fsync);

export class JailEntry {
  /** The path as the caller spelled it. */
  readonly path: string;
  readonly relativePath: string;
  /** The lstat from when the entry was resolved; undefined if the name did not exist. */
  readonly stat: Stats | undefined;
  /** Receives the changes of this entry; set when the call reports them. */
  noteChange?: NoteChange;
  /** The call that changes it, as the journal names it. */
  origin?: Origin;
  readonly #name: ByteString;
  /** Parent directories that do not exist yet. */
  readonly #missing: ByteString[];
  #directory: Pin;

  /** Whether it is a root of the jail, which no change may touch. */
  readonly isRoot: boolean;
  /** A hidden name looks missing, and cannot be created. */
  readonly #isHidden: boolean;

  /** Takes the pin over. `names` are relative to it; an empty list is the directory itself. */
  constructor(
    directory: Pin,
    names: readonly ByteString[],
    path: string,
    { isRoot }: { isRoot: (relativePath: string) => boolean },
  ) {
    const bytes = [...names];
    this.path = path;
    this.relativePath = bytes.reduce(pathInside, directory.relativePath);
    this.#directory = directory;
    this.#name = bytes.pop() ?? ('.' as ByteString);
    this.#missing = bytes;
    this.isRoot = isRoot(this.relativePath);
    this.#isHidden = directory.isHidden?.(this.relativePath) ?? false;
    this.stat = names.length === 0 ? directory.stat : this.#lstat();
  }

  /** Identifies its directory; the birth time distinguishes it from an earlier one with the same inode. */
  get directoryId(): string {
    const { dev, ino, birthtimeMs } = this.#directory.stat;
    return `${dev}:${ino}:${birthtimeMs}`;
  }

  /** Whether its directory has few names, so that one read of them takes less time than to wait for a thread. */
  get isInSmallDirectory(): boolean {
    return this.#directory.stat.size <= SMALL_DIRECTORY_BYTES;
  }

  /** Canonical paths of the missing parent directories of the entry, the outermost first. */
  get missingParents(): string[] {
    let path = this.#directory.relativePath;
    return this.#missing.map((name) => (path = pathInside(path, name)));
  }

  /** Runs one system call on the entry, or on a sibling name, in the pinned directory. */
  act<T>(call: (at: Buffer) => T, name: ByteString = this.#name): T {
    if (this.isRoot) throw new HostError('root', this.path);
    this.#refuseHidden();
    return this.#reach(call, name);
  }

  #refuseHidden(): void {
    if (this.#isHidden) throw new HostError('hidden', this.path);
  }

  #reach<T>(call: (at: Buffer) => T, name: ByteString): T {
    try {
      if (this.#missing[0] !== undefined) throwWhyMissing(this.#directory.at(this.#missing[0]));
      this.#directory.recheck();
      const result = call(this.#directory.at(name));
      this.#recheckFor(result);
      return result;
    } catch (error) {
      throw HostError.fromErrno(error, this.path);
    }
  }

  /** Closes an opened file if the directory was swapped meanwhile. */
  #recheckFor(result: unknown): void {
    try {
      this.#directory.recheck();
    } catch (error) {
      if (result instanceof JailFile) result.close();
      throw error;
    }
  }

  /** Makes a hard link to the entry at a path outside the jail. */
  linkTo(path: string): void {
    this.act(() => this.#directory.link(this.#name, path));
  }

  /** Throws if the name refers to another file than that of `stat`, or to none, or if a program has written to the file. */
  requireUnchanged(): void {
    const now = this.#directory.lstat(this.#name);
    if (!now) throw changedMeanwhile('ENOENT');
    if (!this.stat || !isSameFile(now, this.stat)) throw changedMeanwhile('ESTALE');
  }

  /** A sibling in the same directory; its pin stays owned by this entry. */
  beside(name: ByteString): JailEntry {
    this.act(() => {});
    return new JailEntry(borrowed(this.#directory), [name], this.path, { isRoot: () => false });
  }

  /** Opens the file there for reading. */
  open(): JailFile {
    // Opening a FIFO or a device has side effects, so only a regular file is opened. A swap since the lstat is detected
    // later.
    if (this.stat?.isFile()) {
      const file = this.act(() => JailFile.ofOpened(this.#directory.openChild(this.#name, READ_FLAGS), this));
      if (file) return file;
    }
    return this.#hold((pin) => JailFile.of(pin, this.path));
  }

  /** Pins the directory there. */
  openDir(): JailDir {
    const pin = this.act(() => this.#directory.child(this.#name));
    return JailDir.of(pin, this.path);
  }

  /** Sets the permission bits, and the owner if given. */
  setPermissions(permissions: Permissions): void {
    this.#hold((pin) => applyPermissions(pin, permissions));
  }

  /** Creates the missing parent directories, each in its pinned parent. */
  async makeParents({ isSynced }: { isSynced: boolean }): Promise<void> {
    this.#refuseHidden();
    try {
      for (let name = this.#missing[0]; name !== undefined; name = this.#missing[0]) {
        this.#directory.recheck();
        makeDirectory(this.#directory.at(name));
        if (isSynced) await syncDirectory(this.#directory);
        const made = this.#directory.child(name);
        this.#directory.close();
        this.#directory = made;
        this.#missing.shift();
      }
    } catch (error) {
      throw HostError.fromErrno(error, this.path);
    }
    // Fails if another process created something else under the last parent's name.
    if (!this.#directory.stat.isDirectory()) throw new HostError('exists', this.#directory.relativePath);
  }

  /** Waits until the names in its directory are on disk (fsync). */
  async syncDirectory(): Promise<void> {
    try {
      await syncDirectory(this.#directory);
    } catch (error) {
      throw HostError.fromErrno(error, this.path);
    }
  }

  close(): void {
    this.#directory.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #lstat(): Stats | undefined {
    if (this.#isHidden || this.#missing.length > 0) return undefined;
    return this.#reach(statThere, this.#name);
  }

  /** Pins the entry for `work`. Refuses a symlink: it was created after the entry was resolved, so its target is unchecked. */
  #hold<T>(work: (pin: Pin) => T): T {
    return this.act(() => {
      const pin = this.#directory.child(this.#name);
      try {
        if (pin.stat.isSymbolicLink()) throw new HostError('dangling', this.path);
        return work(pin);
      } finally {
        pin.close();
      }
    });
  }
}

/** Undefined also if the directory is a file: nothing can be there. */
function statThere(at: Buffer): Stats | undefined {
  try {
    return lstatSync(at, { throwIfNoEntry: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined;
    throw error;
  }
}

/** Accepts EEXIST: another process may have been faster. `makeParents` checks that it is a directory. */
function makeDirectory(at: Buffer): void {
  try {
    mkdirSync(at);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

async function syncDirectory(directory: Pin): Promise<void> {
  const fd = directory.open(constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await syncLater(fd);
  } finally {
    closeSync(fd);
  }
}

function throwWhyMissing(at: Buffer): never {
  lstatSync(at);
  throw changedMeanwhile('ENOENT');
}
