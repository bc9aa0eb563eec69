/**
 * The files of this host below some directories, as a `FileSystem`.
 *
 * A symlink at the end of a path is refused if it points outside the roots, nowhere or to a denied path, even for
 * operations on the link itself. Only `rm` removes such a link.
 */
import { basename } from 'node:path';

import { DeniedPaths } from '../jail/denied-paths.ts';
import { entryStatOf } from '../walk/entry-kind.ts';
import { fileInfo, listedInfo } from './file-info.ts';
import type {
  ChangeMode,
  FileInfo,
  FileScope,
  FileSystem,
  GrepAnswer,
  GrepRequest,
  Listing,
  MakeDirectory,
  OpenFile,
  SedRequest,
  SedResult,
  WriteFile,
} from './file-system.ts';
import { HostError } from '../host-error.ts';
import { HostGrep, MAX_GREPPED_BYTES } from './host-file-system-grep.ts';
import { HostSed } from './host-file-system-sed.ts';
import type { JournalNeeds } from '../journal/shared-journal.ts';
import { firstNames } from '../walk/first-names.ts';
import { JailChanges, type ChangeScope } from '../changes/jail-changes.ts';
import type { View } from '../layers/layer.ts';
import type { JailEntry } from '../jail/jail-entry.ts';
import { openAbsoluteJail, type Jail, type JailMode } from '../jail/jail.ts';
import { openDirectory, openFile } from '../jail/open-unprotected.ts';
import { piecesOf } from '../text/read-pieces.ts';
import { SearchRoots } from './search-roots.ts';
import { Turns } from '../search/turns.ts';

/** A reply with more entries would exceed the size of a message. */
const MAX_LISTED = 200_000;

const TURN_MS = 5;

export interface HostFileSystemOptions extends JournalNeeds {
  /** Directories that paths cannot leave. */
  roots: readonly string[];
  /** Globs of files that no worker reaches. */
  protect: readonly string[];
  /** Absolute paths that no operation touches, nor anything below them. */
  deniedPaths: readonly string[];
  mode?: JailMode;
  /** The mount of a change over one of the roots, which is then the only one. */
  view?: View | undefined;
  /** Whether a change is synced to disk before the call returns. */
  isSynced?: boolean;
  /** Largest file that replacements may produce. */
  maxWriteBytes?: number;
  /** Time limit of a search, and of the replacements of one call. */
  searchTimeoutMs?: number;
  /** Most entries of one listing. */
  maxListed?: number;
}

export class HostFileSystem implements FileSystem {
  readonly jail: Jail;
  readonly #maxListed: number;
  readonly #changes: JailChanges;
  readonly #roots: SearchRoots;
  readonly #grep: HostGrep;
  readonly #sed: HostSed;

  /** Throws `HostError` for a root that does not exist. */
  constructor(options: HostFileSystemOptions) {
    const { protect, mode, isSynced = true, maxWriteBytes = Infinity, maxListed = MAX_LISTED } = options;
    const { state_dir, journal_dir, journal, view } = options;
    const { searchTimeoutMs: timeoutMs } = options;
    this.#maxListed = maxListed;
    const denied = new DeniedPaths(options.deniedPaths);
    const ownIn = (root: string) => ({ globs: denied.globsFrom(root) });
    const needs = {
      protect,
      mode,
      view,
      state_dir,
      journal_dir,
      journal,
      maxFileBytes: MAX_GREPPED_BYTES,
      timeoutMs,
      ownIn,
    };
    this.#roots = new SearchRoots(options.roots, needs);
    const { roots, isHidden, regexes } = this.#roots;
    this.jail = openAbsoluteJail(roots, { mode, view, isProtected: denied.covers, isHidden });
    this.#changes = new JailChanges(this.jail, {
      isSynced,
      journalOf: this.#roots.journalOf,
      pins: this.#roots.pins,
    });
    this.#grep = new HostGrep(this.jail, this.#roots);
    this.#sed = new HostSed(this.jail, this.#changes, regexes, { maxWriteBytes, timeoutMs });
  }

  /** Settles when changes that a killed process left half made are rolled back. */
  recovered(): Promise<void> {
    return this.#roots.recovered();
  }

  close(): Promise<void> {
    return this.#roots.close();
  }

  async ls(path: string, { signal }: FileScope): Promise<Listing> {
    using dir = openDirectory(this.jail, path);
    const { names, total } = await firstNames(dir, this.#maxListed, { signal });
    const turns = new Turns(signal, TURN_MS);
    const entries: FileInfo[] = [];
    for (const name of names) {
      const info = listedInfo(dir, name);
      if (info) entries.push(info);
      if (turns.isOver) await turns.next();
    }
    return { entries, isTruncated: total > names.length };
  }

  async stat(path: string): Promise<FileInfo> {
    using entry = this.jail.entry(path);
    this.#refuseBadLink(entry);
    if (!entry.stat) throw new HostError('missing', path);
    return fileInfo(basename(entry.relativePath) || '/', entryStatOf(entry.stat));
  }

  async read(path: string): Promise<OpenFile> {
    const file = openFile(this.jail, path);
    const { sizeBytes, mode, mtimeSecs } = fileInfo('', entryStatOf(file.stat));
    return { sizeBytes, mode, mtimeSecs, bytes: piecesOf(file, path), close: () => file.close() };
  }

  async write(
    path: string,
    bytes: AsyncIterable<Uint8Array>,
    { mode, parents }: WriteFile,
    scope: FileScope,
  ): Promise<number> {
    if (this.#isDirectory(path)) throw isDirectory(path);
    const write = () => this.#changes.writeStream(path, bytes, { mode, parents, ...changeScope(scope) });
    const { size, note } = await this.#withFullPath(path, write);
    if (note !== undefined) scope.addNote?.(note);
    return size;
  }

  async mkdir(path: string, { mode, parents }: MakeDirectory, scope: FileScope): Promise<boolean> {
    const make = async (entry: JailEntry) => {
      this.#refuseBadLink(entry);
      if (entry.stat && parents && this.#isDirectory(path)) return false;
      if (entry.stat) throw new HostError('exists', path);

      await this.#changes.makeDirectory(entry, { mode, parents });
      return true;
    };
    return this.#withFullPath(path, () => this.#changes.onEntry(path, callerOf(scope), make));
  }

  async rm(path: string, { recursive }: { recursive: boolean }, scope: FileScope): Promise<void> {
    const { signal, addNote } = scope;
    const remove = (entry: JailEntry) => this.#changes.remove(entry, { recursive, signal, addNote });
    const isRemoved = await this.#withFullPath(path, () => this.#changes.onEntry(path, callerOf(scope), remove));
    if (!isRemoved) throw new HostError('missing', path);
  }

  async chmod(path: string, { recursive, ...permissions }: ChangeMode, scope: FileScope): Promise<number> {
    const set = (entry: JailEntry) =>
      this.#changes.setPermissions(entry, permissions, { recursive, signal: scope.signal });
    // Recursive chmod skips symlinks; a single one is followed.
    const on = recursive ? 'onEntry' : 'onTarget';
    return this.#withFullPath(path, () => this.#changes[on](path, callerOf(scope), set));
  }

  async mv(from: string, to: string, { overwrite }: { overwrite: boolean }, scope: FileScope): Promise<void> {
    using source = this.jail.entry(from);
    this.#refuseBadLink(source);
    using target = this.jail.entry(to);
    this.#refuseBadLink(target);
    if (source.stat && overwrite && !source.stat.isDirectory() && target.stat?.isDirectory()) throw isDirectory(to);
    const { addNote } = scope;
    await this.#withFullPath(from, () => this.#changes.rename(from, to, { overwrite, addNote, ...changeScope(scope) }));
  }

  grep(request: GrepRequest, scope: FileScope): Promise<GrepAnswer> {
    return this.#grep.run(request, scope);
  }

  sed(request: SedRequest, scope: FileScope): Promise<SedResult[]> {
    return this.#sed.run(request, scope);
  }

  /** Refuses a symlink whose target may not be touched. */
  #refuseBadLink(entry: JailEntry): void {
    if (entry.stat?.isSymbolicLink()) this.jail.target(entry.path).close();
  }

  #isDirectory(path: string): boolean {
    using target = this.jail.target(path);
    return target.stat?.isDirectory() ?? false;
  }

  /** Runs work whose failures below the requested path report the absolute path. */
  async #withFullPath<T>(path: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof HostError) || error.path === path || error.path.startsWith('/')) throw error;
      throw new HostError(error.reason, `/${error.path}`, error.cause as NodeJS.ErrnoException | undefined);
    }
  }
}

function callerOf(scope: FileScope) {
  return { ...changeScope(scope), throwIfAborted: () => scope.signal.throwIfAborted() };
}

/** Picks the fields that a change needs: a call's scope has more, some of it computed by getters. */
function changeScope({ signal, noteChange, call, functionId }: FileScope): ChangeScope {
  return { signal, noteChange, call, functionId };
}

/** The system's error for a file that would replace a directory. */
function isDirectory(path: string): HostError {
  return new HostError('io', path, Object.assign(new Error('is a directory'), { code: 'EISDIR' }));
}
