/**
 * Brings the tree of the index in line with the file system: all of it at first, then the changes.
 *
 * A directory is watched before it is listed, so every later change is reported as an event. Everything is opened as a
 * search would open it.
 */
import type { Stats } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';

import type { ByteString } from '../../text/byte-string.ts';
import { HostError } from '../../host-error.ts';
import { joinPath, type OpenWalkDir, type WalkDir } from '../../walk/walk-dir.ts';
import { entryOf } from '../../walk/walk-entry.ts';
import { listSorted } from '../../walk/walk-list.ts';
import { isGone, MAX_DEPTH, MAX_PATH_BYTES, type SkipReason } from '../../walk/walk.ts';
import { OUTCOME } from '../findings.ts';
import { Arena } from './index-arena.ts';
import { IndexUnusable } from './index-unusable.ts';
import { FileFilters } from './index-filters.ts';
import type { IndexData } from './index-messages.ts';
import { FileOrder } from './index-order.ts';
import { holdsFile, MAX_INDEXED_FILES, reachesInto, type PathRange } from './index-range.ts';
import { FileSlots } from './file-slots.ts';
import { deleteEntry, NO_INODE, setEntry, type IndexedDir, type IndexedFile } from './index-tree.ts';
import { LinkedFiles } from './linked-files.ts';
import type { Watch } from './index-watch.ts';
import { loadFile } from '../match/load-file.ts';

const TURN_MS = 20;

export class IndexLoader {
  readonly root: IndexedDir = { kind: 'dir', name: '' as ByteString, path: '' as ByteString, entries: new Map() };
  readonly slots = new FileSlots();
  readonly filters = new FileFilters(this.slots);
  readonly arena: Arena;
  readonly linked: LinkedFiles;
  readonly #openDir: OpenWalkDir;
  readonly #watch: Watch;
  readonly #maxFileBytes: number;
  readonly #range: PathRange;
  #order: FileOrder | undefined;

  constructor(openDir: OpenWalkDir, watch: Watch, data: IndexData) {
    this.#openDir = openDir;
    this.#watch = watch;
    this.arena = new Arena(this.slots, data);
    this.linked = new LinkedFiles(this.slots, this.arena);
    this.#maxFileBytes = data.maxFileBytes;
    this.#range = data.range;
  }

  /** All files, rebuilt when the set of files changed. */
  get order(): FileOrder {
    return (this.#order ??= new FileOrder(this.root, this.slots.fileCount));
  }

  /** Loads everything, with pauses so that events do not pile up; reports the number of files at each pause. */
  async loadAll({ onFolder, onPause }: { onFolder: () => void; onPause: (files: number) => void }): Promise<void> {
    const pending = [this.root];
    for (let since = performance.now(); pending.length > 0;) {
      onFolder();
      this.#scan(pending.pop()!, pending);
      if (performance.now() - since < TURN_MS) continue;
      onPause(this.slots.fileCount);
      await nextTurn();
      since = performance.now();
    }
    if (this.root.unreadable) throw new IndexUnusable('the root cannot be read');
    this.linked.mark();
  }

  apply(changes: Map<IndexedDir, Set<ByteString | undefined>>): void {
    for (const [dir, names] of changes) {
      if (dir.isDropped) continue;
      if (names.has(undefined)) this.#rescan(dir);
      else this.#update(dir, names as Set<ByteString>);
    }
    this.linked.mark();
    if (this.arena.needsCompaction) this.arena.compact();
  }

  #update(dir: IndexedDir, names: Set<ByteString>): void {
    let walkDir: WalkDir;
    try {
      walkDir = this.#openDir(dir.path);
    } catch {
      this.#rescan(dir);
      return;
    }
    const pending: IndexedDir[] = [];
    try {
      for (const name of names) this.#updateEntry(dir, walkDir, name, pending);
    } finally {
      walkDir.close();
    }
    for (let next = pending.pop(); next; next = pending.pop()) this.#scan(next, pending);
  }

  #updateEntry(dir: IndexedDir, walkDir: WalkDir, name: ByteString, pending: IndexedDir[]): void {
    const known = dir.entries.get(name);
    if (known?.kind === 'dir') this.#drop(known);
    const path = joinPath(dir.path, name);
    try {
      const stat = walkDir.lstat(name);
      if (stat.isDirectory() && reachesInto(this.#range, path)) pending.push(this.#newDir(dir, name));
      else if (stat.isFile() && holdsFile(this.#range, path)) this.#loadFile(dir, walkDir, name);
      else this.#forget(dir, name);
    } catch (error) {
      // An entry that cannot be statted does not exist for a search either.
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
    this.#order = undefined;
    return dir;
  }

  /** Watches and lists a directory, loads its files, and queues its directories. */
  #scan(dir: IndexedDir, pending: IndexedDir[]): void {
    const isTooDeep = dir.path.length > MAX_PATH_BYTES || dir.path.split('/').length >= MAX_DEPTH;
    if (isTooDeep) throw new IndexUnusable('a directory lies too deep');
    let walkDir: WalkDir | undefined;
    try {
      walkDir = this.#openDir(dir.path);
      this.#startWatch(dir, walkDir);
      const listing = listSorted(walkDir, { mayBlock: true }).next();
      const folders: IndexedDir[] = [];
      for (const { name, isDir } of (listing.value as string[]).map(entryOf)) {
        const path = joinPath(dir.path, name);
        if (isDir && reachesInto(this.#range, path)) folders.push(this.#newDir(dir, name));
        else if (!isDir && holdsFile(this.#range, path)) this.#loadFile(dir, walkDir, name);
      }
      // The first directory is popped next, so that memory order is answer order.
      pending.push(...folders.reverse());
    } catch (error) {
      const { reason } = HostError.fromErrno(error, '');
      if (!isGone(reason)) this.#setUnreadable(dir, reason);
      else this.#dropFromParent(dir);
    } finally {
      walkDir?.close();
    }
  }

  #startWatch(dir: IndexedDir, walkDir: WalkDir): void {
    try {
      this.#watch.add(dir, walkDir);
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      if (code === 'ENOSPC' || code === 'EMFILE')
        throw new IndexUnusable(`the system allows no further watch (${code})`);
      throw error;
    }
  }

  /** Only the part whose range contains the directory records it, so it is reported once. */
  #setUnreadable(dir: IndexedDir, reason: SkipReason): void {
    if (holdsFile(this.#range, joinPath(dir.path, '' as ByteString))) dir.unreadable = reason;
    this.#order = undefined;
  }

  #loadFile(dir: IndexedDir, walkDir: WalkDir, name: ByteString): void {
    const known = dir.entries.get(name);
    const file = known?.kind === 'file' ? known : this.#newFile(dir, name);
    this.linked.release(file);
    file.unreadable = undefined;
    try {
      this.#loadText(walkDir, file);
    } catch (error) {
      const { reason } = HostError.fromErrno(error, '');
      this.linked.release(file);
      file.inode = NO_INODE;
      file.unreadable = reason;
      this.slots.outcomes[file.slot] = OUTCOME.unreadable;
      if (isGone(reason) || reason === 'not-a-file') this.#forget(dir, name);
      else this.#noteUnopened(walkDir, file);
    }
  }

  /** A chmod through another hard link is not reported under this name. */
  #noteUnopened(walkDir: WalkDir, file: IndexedFile): void {
    try {
      this.linked.note(file, walkDir.lstat(file.name));
    } catch (error) {
      // The file was removed, which arrives as another change.
      HostError.fromErrno(error, '');
    }
  }

  #newFile(dir: IndexedDir, name: ByteString): IndexedFile {
    if (this.slots.fileCount === MAX_INDEXED_FILES) throw new IndexUnusable(`more than ${MAX_INDEXED_FILES} files`);
    const file: IndexedFile = { kind: 'file', name, dir, slot: this.slots.take(), inode: NO_INODE };
    this.slots.files[file.slot] = file;
    setEntry(dir, file);
    this.#order = undefined;
    return file;
  }

  #loadText(walkDir: WalkDir, file: IndexedFile): void {
    const { memory, top } = this.arena;
    const { outcomes } = this.slots;
    const isWanted = (stat: Stats) => !this.linked.note(file, stat);
    const text = loadFile(memory, top, walkDir, file.name, this.#maxFileBytes, isWanted);
    if (text === 'unwanted') return;
    if (text === 'over-limit') outcomes[file.slot] = OUTCOME.tooLarge;
    else if (memory.kernels.hasNul(text.start, text.end - text.start)) outcomes[file.slot] = OUTCOME.binary;
    else {
      outcomes[file.slot] = OUTCOME.searched;
      this.arena.keep(file, text);
    }
  }

  #forget(dir: IndexedDir, name: ByteString): void {
    const known = dir.entries.get(name);
    if (known?.kind === 'dir') this.#drop(known);
    if (known?.kind === 'file') this.#releaseFile(known);
    deleteEntry(dir, name);
    this.#order = undefined;
  }

  #dropFromParent(dir: IndexedDir): void {
    this.#drop(dir);
    if (dir.parent?.entries.get(dir.name) === dir) deleteEntry(dir.parent, dir.name);
  }

  #drop(dir: IndexedDir): void {
    if (dir.isDropped) return;
    dir.watcher?.close();
    dir.isDropped = true;
    this.#order = undefined;
    for (const entry of dir.entries.values()) {
      if (entry.kind === 'dir') this.#drop(entry);
      else this.#releaseFile(entry);
    }
  }

  #releaseFile(file: IndexedFile): void {
    this.linked.release(file);
    this.filters.forget(file.slot);
    this.slots.release(file.slot);
  }
}
