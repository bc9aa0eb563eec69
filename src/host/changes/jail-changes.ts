/**
 * Every change to the files of a jail goes through here: one at a time for each file, whole or not at all.
 *
 * Locks hold inside this process only; against others there are versions. Whatever wants to know of a change
 * before it happens, such as a journal, belongs here.
 */
import { mkdirSync, renameSync, unlinkSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';

import { comparable, ComparablePieces, contentChange, removal, reportParts, type NoteChange } from './note-change.ts';
import { PendingFile, writeWhole, type Written } from './atomic-write.ts';
import { copyAcross, isOtherDevice } from './copy-across.ts';
import { FileLocks } from './file-locks.ts';
import { HostError } from '../host-error.ts';
import { refuseProtectedBelow } from '../jail/jail-below.ts';
import { copyTo, type CopyOptions } from './jail-copy.ts';
import type { JailEntry } from '../jail/jail-entry.ts';
import { setPermissionsBelow } from './jail-permissions.ts';
import { removeEntry } from './jail-remove.ts';
import type { Jail } from '../jail/jail.ts';
import type { Permissions } from './permissions.ts';
import { changedMeanwhile } from '../jail/pin.ts';

/** Jails of one process may overlap, so they share their locks. */
const locks = new FileLocks();

/** A path that leads elsewhere each time its lock was taken is given up after this many times. */
const LOOKS = 8;

/** Who waits for a change: a call, or its signal. */
export type Caller = Pick<AbortSignal, 'throwIfAborted'> & Noting;

interface Noting {
  /** Takes the report of each change, where the call wants one. */
  readonly noteChange?: NoteChange | undefined;
}

export class JailChanges {
  readonly #jail: Jail;
  readonly #isSynced: boolean;

  /** `isSynced`: whether a change is on the disk before it is done. */
  constructor(jail: Jail, options: { isSynced: boolean }) {
    this.#jail = jail;
    this.#isSynced = options.isSynced;
  }

  /** Works alone on the file that a write to the path ends in, links followed. */
  onTarget<T>(path: string, caller: Caller, work: (target: JailEntry) => Promise<T>): Promise<T> {
    return this.#alone('target', [path], caller, ([target]) => work(target!));
  }

  /** Works alone on what the path names, a link for itself. */
  onEntry<T>(path: string, caller: Caller, work: (entry: JailEntry) => Promise<T>): Promise<T> {
    return this.#alone('entry', [path], caller, ([entry]) => work(entry!));
  }

  /**
   * Gives a file its content. A mode left out is that of the file before, or 0644. Whoever has just read the file
   * tells what was there `before`, which is then not read again.
   */
  async write(
    target: JailEntry,
    bytes: Uint8Array,
    { mode, parents = false, before }: { mode?: number; parents?: boolean; before?: Uint8Array } = {},
  ): Promise<Written> {
    if (parents) await target.makeParents({ isSynced: this.#isSynced });
    const { noteChange } = target;
    const was = noteChange && (before ?? (await comparable(target)));
    const written = await writeWhole(target, bytes, { mode, isSynced: this.#isSynced, before });
    const change = noteChange && contentChange(target, was, bytes);
    if (change) noteChange(change);
    return written;
  }

  /**
   * Gives a file the bytes of a stream, when the last of them is there, and says how many. Others may change the
   * file until then.
   */
  async writeStream(
    path: string,
    bytes: AsyncIterable<Uint8Array>,
    { mode, parents, signal, noteChange }: { mode?: number; parents: boolean; signal: AbortSignal } & Noting,
  ): Promise<Written & { size: number }> {
    using beside = this.#jail.target(path);
    if (parents) await beside.makeParents({ isSynced: this.#isSynced });
    using pending = await PendingFile.at(beside);
    const kept = noteChange && new ComparablePieces();
    let size = 0;
    for await (const piece of bytes) {
      await pending.append(piece);
      kept?.add(piece);
      size += piece.length;
      signal.throwIfAborted();
    }
    const commit = async (target: JailEntry) => {
      const before = noteChange && (await comparable(target));
      const written = await pending.commit({ mode, isSynced: this.#isSynced }, target);
      const change = kept && contentChange(target, before, kept.all);
      if (change) noteChange?.(change);
      return written;
    };
    return { size, ...(await this.onTarget(path, signal, commit)) };
  }

  /** Takes away what is there, a directory with entries only when `recursive`. False when nothing is there. */
  async remove(entry: JailEntry, { recursive, signal }: { recursive: boolean; signal: AbortSignal }): Promise<boolean> {
    const { refusal } = this.#jail;
    const before = entry.noteChange && (await comparable(entry));
    const isRemoved = await reportParts(entry.noteChange, (notePart) =>
      removeEntry(entry, { recursive, refusal, signal, notePart }),
    );
    if (isRemoved) entry.noteChange?.(removal(entry, before));
    if (isRemoved) await this.#sync(entry);
    return isRemoved;
  }

  /** Makes a directory where nothing is. */
  async makeDirectory(entry: JailEntry, { mode, parents }: { mode: number; parents: boolean }): Promise<void> {
    if (parents) await entry.makeParents({ isSynced: this.#isSynced });
    entry.act((at) => mkdirSync(at, mode));
    entry.setPermissions({ mode });
    entry.noteChange?.({ path: entry.path, kind: 'created', is_directory: true });
    await this.#sync(entry);
  }

  /** Sets the permission bits. */
  chmod(target: JailEntry, mode: number): void {
    target.setPermissions({ mode });
    target.noteChange?.({ path: target.path, kind: 'mode' });
  }

  /** Sets permission bits and owner of what is there, with everything below when `recursive`; says of how many. */
  async setPermissions(
    entry: JailEntry,
    permissions: Permissions,
    { recursive, signal }: { recursive: boolean; signal: AbortSignal },
  ): Promise<number> {
    if (!entry.stat) throw new HostError('missing', entry.path);
    if (entry.isRoot) throw new HostError('root', entry.path);
    const { refusal } = this.#jail;
    const below = (notePart?: NoteChange) => setPermissionsBelow(entry, permissions, { refusal, signal, notePart });
    const count = recursive ? await reportParts(entry.noteChange, below) : 1;
    if (!recursive) entry.setPermissions(permissions);
    entry.noteChange?.({ path: entry.path, kind: 'mode' });
    return count;
  }

  /** Moves what one path names to the other. What is there is replaced only with `overwrite`. */
  rename(
    from: string,
    to: string,
    { overwrite, signal, noteChange }: { overwrite: boolean; signal: AbortSignal } & Noting,
  ): Promise<void> {
    return this.#alone('entry', [from, to], signal, async (entries) => {
      const [source, place] = entries as [JailEntry, JailEntry];
      if (!source.stat) throw new HostError('missing', from);
      if (place.stat && !overwrite) throw new HostError('exists', to);

      const { refusal } = this.#jail;
      await refuseProtectedBelow(source, { refusal, signal });
      await reportParts(noteChange, (notePart) => this.#move(source, place, { signal, notePart }));
      noteChange?.({ path: to, kind: 'renamed', from, ...(source.stat.isDirectory() && { is_directory: true }) });
      await this.#sync(source);
      await this.#sync(place);
    });
  }

  /** Copies what one path leads to, links followed, to the other. What is there is replaced only with `overwrite`. */
  copy(
    from: string,
    to: string,
    { noteChange, ...options }: Omit<CopyOptions, 'isSynced' | 'notePart'> & Noting,
  ): Promise<void> {
    const copying = { ...options, isSynced: this.#isSynced };
    return this.#alone('target', [to], options.signal, async ([place]) => {
      await reportParts(noteChange, (notePart) => copyTo(this.#jail, from, place!, { ...copying, notePart }));
      noteChange?.({ path: to, kind: place!.stat ? 'modified' : 'created' });
    });
  }

  async #move(
    source: JailEntry,
    place: JailEntry,
    { signal, notePart }: { signal: AbortSignal; notePart?: NoteChange },
  ): Promise<void> {
    try {
      source.act((old) => place.act((now) => renameSync(old, now)));
    } catch (error) {
      if (!isOtherDevice(error) || !source.stat!.isFile()) throw error;
      await copyAcross(source, place, { isSynced: this.#isSynced, signal });
      notePart?.({ path: place.path, kind: place.stat ? 'modified' : 'created' });
      source.act(unlinkSync);
    }
  }

  async #sync(entry: JailEntry): Promise<void> {
    if (this.#isSynced) await entry.syncDirectory();
  }

  /** The locks are those of what the paths lead to, which is looked at again if they had to be waited for. */
  async #alone<T>(
    kind: 'target' | 'entry',
    paths: readonly string[],
    caller: Caller,
    work: (entries: JailEntry[]) => Promise<T>,
  ): Promise<T> {
    for (let look = 0; look < LOOKS; look++) {
      let keys: string[];
      {
        using found = this.#find(kind, paths);
        keys = found.keys;
        caller.throwIfAborted();
        if (locks.areFree(keys)) return await locks.run(keys, () => work(noted(found.entries, caller)));
      }
      const later = await locks.run(keys, async () => {
        using found = this.#find(kind, paths);
        caller.throwIfAborted();
        return isDeepStrictEqual(found.keys, keys) ? { result: await work(noted(found.entries, caller)) } : undefined;
      });
      if (later) return later.result;
    }
    throw HostError.fromErrno(changedMeanwhile('ESTALE'), paths[0]!);
  }

  /** What the paths lead to now, held for the time being, with the keys of its locks. */
  #find(kind: 'target' | 'entry', paths: readonly string[]): Disposable & { entries: JailEntry[]; keys: string[] } {
    const entries: JailEntry[] = [];
    const close = () => entries.forEach((entry) => entry.close());
    try {
      for (const path of paths) entries.push(this.#jail[kind](path));
      return { entries, keys: entries.map(this.#jail.keyOf), [Symbol.dispose]: close };
    } catch (error) {
      close();
      throw error;
    }
  }
}

function noted(entries: JailEntry[], { noteChange }: Noting): JailEntry[] {
  if (noteChange) for (const entry of entries) entry.noteChange = noteChange;
  return entries;
}
