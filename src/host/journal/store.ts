/**
 * The store of before-images: files (`images`), removed directories (`trees`) and unfinished write sets (`prepared`), in a
 * directory with mode 0700.
 *
 * A hard link keeps a file at no cost, because the server never writes in place: it replaces a file by a new one. Where
 * the kernel refuses the link, such as on another device, the file is copied.
 */
import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeFileSync,
  type Stats,
} from 'node:fs';
import { copyFile, open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { DESCRIPTORS } from '../jail/own-descriptors.ts';
import type { JailEntry } from '../jail/jail-entry.ts';
import { openJail } from '../jail/jail.ts';
import { removeMade } from '../changes/jail-remove.ts';
import { sumBelow } from '../changes/tree-sum.ts';
import { changedMeanwhile } from '../jail/pin.ts';
import { versionOf } from '../changes/jail-version.ts';
import { HostError } from '../host-error.ts';
import { lstatOf } from '../system/stat-calls.ts';
import { piecesOf } from '../text/read-pieces.ts';

/** Up to this size a file is read at once. */
const SMALL_BYTES = 1 << 20;

/** Errors of `link` that mean the file must be copied: another device, another owner, too many links. */
const NO_LINK = new Set(['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EACCES']);

const READ_NOFOLLOW = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

export class ImageStore {
  readonly directory: string;

  constructor(directory: string) {
    this.directory = directory;
  }

  /** Makes the directories. Throws an errno error where that is not permitted. */
  make(): void {
    for (const name of ['', 'images', 'trees', 'prepared']) {
      mkdirSync(join(this.directory, name), { recursive: true, mode: 0o700 });
    }
  }

  get preparedDir(): string {
    return join(this.directory, 'prepared');
  }

  pathOf(kind: 'images' | 'trees' | 'prepared', name: string): string {
    // A damaged log must not name a path outside the store.
    if (!/^[\w.-]+$/.test(name) || name.startsWith('.')) throw new Error(`bad name in the journal: ${name}`);
    return `${this.directory}/${kind}/${name}`;
  }

  /** Creates an empty image; false if the name exists. */
  claim(name: string): boolean {
    return unlessTaken(() =>
      closeSync(
        openSync(this.pathOf('images', name), constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600),
      ),
    );
  }

  /** Links the file at an entry; `unlinkable` if it must be copied, false if the name exists. */
  link(entry: JailEntry, name: string): boolean | 'unlinkable' {
    const image = this.pathOf('images', name);
    try {
      if (!unlessTaken(() => entry.linkTo(image))) return false;
    } catch (error) {
      if (isUnlinkable(error)) return 'unlinkable';
      throw error;
    }
    if (isSame(lstatOf(image), entry.stat!)) return true;
    // The file was replaced after the entry was found.
    unlinkSync(image);
    throw HostError.fromErrno(changedMeanwhile('ESTALE'), entry.path);
  }

  /** Copies the file at an entry over a claimed name. */
  async copy(entry: JailEntry, name: string): Promise<void> {
    const image = this.pathOf('images', name);
    using file = entry.open();
    if (!isSame(file.stat, entry.stat!)) throw HostError.fromErrno(changedMeanwhile('ESTALE'), entry.path);
    try {
      // By its descriptor: the path may name another file by now.
      if (process.platform === 'linux') {
        await copyFile(`${DESCRIPTORS}/${file.fd}`, image, constants.COPYFILE_FICLONE);
      } else {
        await writeFile(image, piecesOf(file, entry.path));
      }
    } catch (error) {
      // Part of an image is of no use, and without a file another process could claim the name.
      writeFileSync(image, '', { mode: 0o600 });
      throw HostError.fromErrno(error, entry.path);
    }
  }

  /** The version of an image; a large one is read as a stream, so that it does not block other calls. */
  async versionOf(name: string): Promise<string> {
    const path = this.pathOf('images', name);
    if (lstatSync(path).size <= SMALL_BYTES) return versionOf(this.read(name));
    const file = await open(path, READ_NOFOLLOW);
    try {
      const sum = createHash('sha256');
      for await (const piece of file.createReadStream({ autoClose: false })) sum.update(piece as Buffer);
      return `sha256:${sum.digest('hex')}`;
    } finally {
      await file.close();
    }
  }

  read(name: string): Buffer {
    const fd = openSync(this.pathOf('images', name), READ_NOFOLLOW);
    try {
      return readFileSync(fd);
    } finally {
      closeSync(fd);
    }
  }

  lstat(kind: 'images' | 'trees', name: string): Stats | undefined {
    return lstatSync(this.pathOf(kind, name), { throwIfNoEntry: false });
  }

  /** Renames a directory into the store; false if it must be copied. */
  take(entry: JailEntry, name: string): boolean {
    try {
      entry.act((at) => renameSync(at, this.pathOf('trees', name)));
      return true;
    } catch (error) {
      if (isUnlinkable(error)) return false;
      throw error;
    }
  }

  /** The checksum of everything below a removed directory. */
  async contentsOf(name: string, scope: Parameters<typeof sumBelow>[1]): Promise<string> {
    using dir = openJail(this.directory).openDir(`trees/${name}`);
    return await sumBelow(dir, scope);
  }

  drop(name: string): void {
    try {
      unlinkSync(this.pathOf('images', name));
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
    }
  }

  /** Removes a directory, whatever modes its entries have. */
  async dropTree(name: string): Promise<void> {
    if (!this.lstat('trees', name)) return;
    using entry = openJail(this.directory).entry(`trees/${name}`);
    await removeMade(entry);
  }
}

/** False if the name exists. */
function unlessTaken(make: () => void): boolean {
  try {
    make();
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Whether a link or rename failed because of the device or the owner, so that a copy may work. */
export function isUnlinkable(error: unknown): boolean {
  return NO_LINK.has(codeOf(error));
}

export function codeOf(error: unknown): string {
  const cause = error instanceof HostError ? error.cause : error;
  return (cause as NodeJS.ErrnoException | undefined)?.code ?? '';
}

function isSame(found: Pick<Stats, 'ino' | 'size' | 'mtimeMs'>, old: Stats): boolean {
  return found.ino === old.ino && found.size === old.size && found.mtimeMs === old.mtimeMs;
}
