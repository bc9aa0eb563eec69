/**
 * The protected files of a workspace as they are now, for the launcher to hide.
 *
 * Every command asks, so folders are read again only when their mtime has changed. A file that appears later is not
 * hidden from commands that run already.
 */
import { closeSync, lstatSync, openSync, readdirSync, readlinkSync, type Dirent } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { compileProtected, type View } from '#host';
import { isWithin } from './layout.ts';

/** Folders read before other work gets a turn. */
const FOLDERS_A_TURN = 256;
/**
 * The kernel's clock for files is coarse: a folder that was read this soon after its mtime may have changed without a
 * new one.
 */
const CLOCK_MS = 50;
/** A walk is repeated, at most so often, if folders were renamed meanwhile. */
const MOST_WALKS = 5;

interface Folder {
  readonly mtimeMs: number;
  readonly readAtMs: number;
  readonly folders: readonly string[];
  readonly hidden: readonly string[];
}

export class ProtectedFiles {
  /** The workspace, and the path by which this process lists it. */
  readonly #root: string;
  readonly #at: string;
  readonly #matches: ((relativePath: string) => boolean) | undefined;
  #known = new Map<string, Folder>();
  #walking: Promise<readonly string[]> | undefined;

  constructor(root: string, globs: readonly string[], view?: View) {
    this.#root = root;
    this.#at = view ? `/proc/self/fd/${view.fd}` : root;
    this.#matches = globs.length > 0 ? compileProtected([{ globs }]) : undefined;
  }

  /** Absolute paths of files, and of folders that are protected as a whole. */
  async find(): Promise<readonly string[]> {
    if (!this.#matches) return [];
    // A walk that already runs may have passed the folder in which a file has appeared since.
    await this.#walking?.catch(() => {});
    this.#walking ??= this.#find().finally(() => (this.#walking = undefined));
    return await this.#walking;
  }

  async #find(): Promise<readonly string[]> {
    for (let walk = 1; ; walk++) {
      const { hidden, isWhole } = await this.#walk();
      if (isWhole || walk === MOST_WALKS) return [...new Set(hidden)];
    }
  }

  async #walk(): Promise<{ hidden: string[]; isWhole: boolean }> {
    const known = new Map<string, Folder>();
    const waiting = [this.#at];
    const hidden: string[] = [];
    let isWhole = true;
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      if (known.size % FOLDERS_A_TURN === FOLDERS_A_TURN - 1) await nextTurn();
      const folder = this.#folderAt(path);
      if (!folder) isWhole = false;
      else {
        known.set(path, folder);
        waiting.push(...folder.folders);
        hidden.push(...folder.hidden);
      }
    }
    this.#known = known;
    return { hidden, isWhole };
  }

  /** Undefined if the folder is gone. */
  #folderAt(path: string): Folder | undefined {
    const known = this.#known.get(path);
    try {
      const { mtimeMs } = lstatSync(`${path}/.`);
      if (known?.mtimeMs === mtimeMs && known.readAtMs - mtimeMs > CLOCK_MS) return known;
      const readAtMs = Date.now();
      return { mtimeMs, readAtMs, ...this.#sort(path, readdirSync(`${path}/.`, { withFileTypes: true })) };
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
      // The command runs as the same user, so it cannot read the folder either.
      if (code === 'EACCES' || code === 'EPERM') return { mtimeMs: NaN, readAtMs: 0, folders: [], hidden: [] };
      throw error;
    }
  }

  #sort(path: string, entries: readonly Dirent[]): Pick<Folder, 'folders' | 'hidden'> {
    const folders: string[] = [];
    const hidden: string[] = [];
    for (const entry of entries) {
      const full = join(path, entry.name);
      if (this.#matches!(full.slice(this.#at.length + 1))) hidden.push(...this.#pathsOf(full, entry));
      else if (entry.isDirectory()) folders.push(full);
    }
    return { folders, hidden };
  }

  /** A mount cannot cover a symlink, so the file that it points to is hidden, if that is in the workspace. */
  #pathsOf(path: string, entry: Dirent): string[] {
    if (!entry.isSymbolicLink()) return [this.#root + path.slice(this.#at.length)];
    try {
      const target = targetOf(path);
      return isWithin(this.#root, target) && target !== this.#root ? [target] : [];
    } catch {
      return [];
    }
  }
}

// Not in node:fs; the same number on every architecture that Node supports.
const O_PATH = 0o10000000;

/** Resolves by descriptor: names in a view are resolved in its mount. */
function targetOf(path: string): string {
  const fd = openSync(path, O_PATH);
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } finally {
    closeSync(fd);
  }
}
