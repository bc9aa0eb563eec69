/**
 * Brings the tree of the index in line with the file system: all of it at first, then what changed.
 *
 * A directory is watched before it is listed, so whatever happens after the listing comes as a change. Everything
 * is opened as a search would open it.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';

import type { ByteString } from '../byte-string.ts';
import { HostError } from '../host-error.ts';
import { joinPath, type OpenWalkDir, type WalkDir } from '../walk-dir.ts';
import { listSorted } from '../walk-list.ts';
import { isGone, MAX_DEPTH } from '../walk.ts';
import { OUTCOME } from './batch.ts';
import type { Arena } from './index-arena.ts';
import { deleteEntry, setEntry, sortedEntries, type IndexedDir, type IndexedFile } from './index-tree.ts';
import type { Watch } from './index-watch.ts';
import { loadFile } from './load-file.ts';

/** This tree cannot be kept in step with the file system. */
export class IndexGivesUp extends Error {}

/** Each takes some hundred bytes beside its text. */
const MAX_FILES = 500_000;
/** Each is read in every search. */
const MAX_LINKED = 2000;
const TURN_MS = 20;

export class IndexLoader {
  readonly root: IndexedDir = { kind: 'dir', name: '' as ByteString, path: '' as ByteString, entries: new Map() };
  readonly #openDir: OpenWalkDir;
  readonly #watch: Watch;
  readonly #arena: Arena;
  readonly #maxFileBytes: number;
  #fileCount = 0;
  /** Of files with several names that were met since names were last looked through. */
  readonly #linkedInodes = new Set<number>();
  #linkedCount = 0;

  constructor(openDir: OpenWalkDir, watch: Watch, arena: Arena, maxFileBytes: number) {
    this.#openDir = openDir;
    this.#watch = watch;
    this.#arena = arena;
    this.#maxFileBytes = maxFileBytes;
  }

  /** Loads everything, with pauses so that events do not pile up. */
  async loadAll(): Promise<void> {
    const pending = [this.root];
    for (let since = performance.now(); pending.length > 0;) {
      this.#scan(pending.pop()!, pending);
      if (performance.now() - since < TURN_MS) continue;
      await nextTurn();
      since = performance.now();
    }
    if (this.root.unreadable) throw new IndexGivesUp('the root cannot be read');
    this.#markLinked();
  }

  apply(changes: Map<IndexedDir, Set<ByteString | undefined>>): void {
    for (const [dir, names] of changes) {
      if (dir.isDropped) continue;
      if (names.has(undefined)) this.#rescan(dir);
      else this.#update(dir, names as Set<ByteString>);
    }
    this.#markLinked();
    if (this.#arena.needsCompaction) this.#arena.compact(filesBelow(this.root));
  }

  /** Reads a file again that is not what it was. */
  reload(dir: IndexedDir, name: ByteString): void {
    this.#update(dir, new Set([name]));
  }

  #update(dir: IndexedDir, names: Set<ByteString>): void {
    let held: WalkDir;
    try {
      held = this.#openDir(dir.path);
    } catch {
      this.#rescan(dir);
      return;
    }
    const pending: IndexedDir[] = [];
    try {
      for (const name of names) this.#updateEntry(dir, held, name, pending);
    } finally {
      held.close();
    }
    for (let next = pending.pop(); next; next = pending.pop()) this.#scan(next, pending);
  }

  #updateEntry(dir: IndexedDir, held: WalkDir, name: ByteString, pending: IndexedDir[]): void {
    const known = dir.entries.get(name);
    if (known?.kind === 'dir') this.#drop(known);
    try {
      const stat = held.lstat(name);
      if (stat.isDirectory()) pending.push(this.#newDir(dir, name));
      else if (stat.isFile()) this.#loadFile(dir, held, name);
      else this.#forget(dir, name);
    } catch (error) {
      // A name that cannot even be looked at is not there for a search either.
      HostError.fromErrno(error, '');
      this.#forget(dir, name);
    }
  }

  #rescan(dir: IndexedDir): void {
    this.#drop(dir);
    const fresh = dir.parent ? this.#newDir(dir.parent, dir.name) : this.#reviveRoot();
    const pending = [fresh];
    for (let next = pending.pop(); next; next = pending.pop()) this.#scan(next, pending);
  }

  #reviveRoot(): IndexedDir {
    Object.assign(this.root, { isDropped: false, unreadable: undefined, sorted: undefined });
    this.root.entries.clear();
    return this.root;
  }

  #newDir(parent: IndexedDir, name: ByteString): IndexedDir {
    const known = parent.entries.get(name);
    if (known?.kind === 'file') this.#forget(parent, name);
    const dir: IndexedDir = { kind: 'dir', name, path: joinPath(parent.path, name), entries: new Map(), parent };
    setEntry(parent, dir);
    return dir;
  }

  /** Watches and lists a directory, loads its files, and leaves its directories to be scanned. */
  #scan(dir: IndexedDir, pending: IndexedDir[]): void {
    if (dir.path.split('/').length >= MAX_DEPTH) throw new IndexGivesUp('a directory lies too deep');
    let held: WalkDir | undefined;
    try {
      held = this.#openDir(dir.path);
      this.#startWatch(dir, held);
      const listing = listSorted(held);
      let turn = listing.next();
      while (!turn.done) turn = listing.next();
      for (const { name, isDir } of turn.value) {
        if (isDir) pending.push(this.#newDir(dir, name));
        else this.#loadFile(dir, held, name);
      }
    } catch (error) {
      const { reason } = HostError.fromErrno(error, '');
      if (!isGone(reason)) dir.unreadable = reason;
      else this.#dropFromParent(dir);
    } finally {
      held?.close();
    }
  }

  #startWatch(dir: IndexedDir, held: WalkDir): void {
    try {
      this.#watch.add(dir, held);
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      if (code === 'ENOSPC' || code === 'EMFILE')
        throw new IndexGivesUp(`the system allows no further watch (${code})`);
      throw error;
    }
  }

  #loadFile(dir: IndexedDir, held: WalkDir, name: ByteString): void {
    const known = dir.entries.get(name);
    if (known?.kind === 'file') this.#arena.release(known);
    else if (++this.#fileCount > MAX_FILES) throw new IndexGivesUp(`more than ${MAX_FILES} files`);

    try {
      const { ino, size, mtimeMs, ctimeMs, nlink } = held.lstat(name);
      const file: IndexedFile = {
        kind: 'file',
        name,
        outcome: OUTCOME.searched,
        identity: { ino, size, mtimeMs, ctimeMs },
      };
      setEntry(dir, file);
      if (nlink > 1) this.#linkedInodes.add(ino);
      else this.#loadText(held, file);
    } catch (error) {
      const { reason } = HostError.fromErrno(error, '');
      if (isGone(reason) || reason === 'not-a-file') this.#forget(dir, name);
      else setEntry(dir, { kind: 'file', name, outcome: OUTCOME.unreadable, unreadable: reason, identity: UNKNOWN });
    }
  }

  #loadText(held: WalkDir, file: IndexedFile): void {
    const { memory } = this.#arena;
    const text = loadFile(memory, this.#arena.top, held, file.name, this.#maxFileBytes);
    if (text === 'over-limit') file.outcome = OUTCOME.tooLarge;
    else if (memory.kernels.hasNul(text.start, text.end - text.start)) file.outcome = OUTCOME.binary;
    else this.#arena.keep(file, text);
  }

  /** A file that got a second name keeps its first without any event there, so all names are looked through. */
  #markLinked(): void {
    if (this.#linkedInodes.size === 0) return;
    for (const file of filesBelow(this.root)) {
      if (file.isLinked || !this.#linkedInodes.has(file.identity.ino)) continue;
      this.#arena.release(file);
      file.isLinked = true;
      if (++this.#linkedCount > MAX_LINKED) throw new IndexGivesUp(`more than ${MAX_LINKED} files have other names`);
    }
    this.#linkedInodes.clear();
  }

  #forget(dir: IndexedDir, name: ByteString): void {
    const known = dir.entries.get(name);
    if (known?.kind === 'dir') this.#drop(known);
    if (known?.kind === 'file') {
      this.#arena.release(known);
      this.#fileCount--;
    }
    deleteEntry(dir, name);
  }

  #dropFromParent(dir: IndexedDir): void {
    this.#drop(dir);
    if (dir.parent?.entries.get(dir.name) === dir) deleteEntry(dir.parent, dir.name);
  }

  #drop(dir: IndexedDir): void {
    dir.watcher?.close();
    dir.isDropped = true;
    for (const entry of dir.entries.values()) {
      if (entry.kind === 'dir') this.#drop(entry);
      else this.#arena.release(entry);
      if (entry.kind === 'file') this.#fileCount--;
    }
  }
}

const UNKNOWN = { ino: -1, size: -1, mtimeMs: -1, ctimeMs: -1 };

function* filesBelow(dir: IndexedDir): Generator<IndexedFile> {
  for (const entry of sortedEntries(dir)) {
    if (entry.kind === 'dir') yield* filesBelow(entry);
    else yield entry;
  }
}
