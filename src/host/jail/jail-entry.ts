/**
 * A name in a directory of the jail, taken or free: what a change acts on.
 *
 * The directory is held and the name is never followed, so a change happens there, whatever is
 * swapped meanwhile.
 */
import { closeSync, constants, fsync, lstatSync, mkdirSync, type Stats } from 'node:fs';
import { promisify } from 'node:util';

import type { ByteString } from '../text/byte-string.ts';
import type { NoteChange } from '../changes/note-change.ts';
import { HostError } from '../host-error.ts';
import { JailDir } from './jail-dir.ts';
import { JailFile, READ_FLAGS } from './jail-file.ts';
import { applyPermissions, type Permissions } from '../changes/permissions.ts';
import { borrowed, changedMeanwhile, pathInside, type Pin } from './pin.ts';

const syncLater = promisify(fsync);

export class JailEntry {
  /** As the caller spelled it. */
  readonly path: string;
  readonly relativePath: string;
  /** What stood there when the entry was found, links not followed; undefined when the name was free. */
  readonly stat: Stats | undefined;
  /** Takes the report of what becomes of it, where the call wants one. */
  noteChange?: NoteChange;
  readonly #name: ByteString;
  /** Directories on the way that are not there yet. */
  readonly #missing: ByteString[];
  #directory: Pin;

  /** Whether it is a directory that the jail is on, which no change may touch. */
  readonly isRoot: boolean;
  /** The name looks free, and nothing may be put there. */
  readonly #isHidden: boolean;

  /** `names` lead on from the directory, which is the entry's from now on; none stand for the directory itself. */
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

  /** Tells the directory it is in from every other one, also from one that was there before. */
  get directoryId(): string {
    const { dev, ino, birthtimeMs } = this.#directory.stat;
    return `${dev}:${ino}:${birthtimeMs}`;
  }

  /** One system call on the entry, or on another name beside it, in the very directory that was checked. */
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

  /** What was opened is let go of when it may have been something else. */
  #recheckFor(result: unknown): void {
    try {
      this.#directory.recheck();
    } catch (error) {
      if (result instanceof JailFile) result.close();
      throw error;
    }
  }

  /** Another name in the same directory, which stays held by this entry. */
  beside(name: ByteString): JailEntry {
    this.act(() => {});
    return new JailEntry(borrowed(this.#directory), [name], this.path, { isRoot: () => false });
  }

  /** Opens the file there for reading. */
  open(): JailFile {
    // A FIFO or a device feels being opened. Only one that has just taken the place of a file is not noticed before.
    if (this.stat?.isFile()) {
      const file = this.act(() => JailFile.ofOpened(this.#directory.openChild(this.#name, READ_FLAGS), this));
      if (file) return file;
    }
    return this.#hold((pin) => JailFile.of(pin, this.path));
  }

  /** Holds the directory there. */
  openDir(): JailDir {
    const pin = this.act(() => this.#directory.child(this.#name));
    return JailDir.of(pin, this.path);
  }

  /** Sets the permission bits, and the owner if there is one to set, of what is there. */
  setPermissions(permissions: Permissions): void {
    this.#hold((pin) => applyPermissions(pin, permissions));
  }

  /** Makes the directories that are missing on the way, each in one that is held. */
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
    // In place of the directory there is something else.
    if (!this.#directory.stat.isDirectory()) throw new HostError('exists', this.#directory.relativePath);
  }

  /** Waits until the names of its directory are on the disk as they are now. */
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
    if (this.#isHidden || this.#missing.length > 0 || !this.#directory.stat.isDirectory()) return undefined;
    return this.#reach((at) => lstatSync(at, { throwIfNoEntry: false }), this.#name);
  }

  /** Works on the object itself. A link stands here only since the entry was found: it leads nowhere we know. */
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

/** Someone else may have made it first; that it is a directory shows when it is held. */
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
