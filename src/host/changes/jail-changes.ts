/**
 * Makes every change to the files of a jail: one at a time per file, each complete or not at all.
 *
 * Locks work inside this process only; versions detect changes by other processes. A file is kept in the journal before
 * it is replaced (`change-recorder.ts`), so that undo can restore it.
 */
import { mkdirSync } from 'node:fs';

import { comparable, ComparablePieces, contentChange, removal, reportParts, type NoteChange } from './note-change.ts';
import { PendingFile, writeWhole, type Written } from './atomic-write.ts';
import { HostError } from '../host-error.ts';
import { refuseNamesBelow } from '../jail/check-tree-names.ts';
import { copyTo, type CopyOptions } from './jail-copy.ts';
import type { JailEntry } from '../jail/jail-entry.ts';
import { setPermissionsBelow, type Below } from './jail-permissions.ts';
import { removeEntry } from './jail-remove.ts';
import type { Jail } from '../jail/jail.ts';
import type { PinOthers } from '../layers/pins.ts';
import { MissingParents } from './missing-parents.ts';
import { moveEntry } from './move-entry.ts';
import type { Permissions } from './permissions.ts';
import { whileLocked } from './locked-paths.ts';
import { ChangeRecorder, type FindJournal } from './change-recorder.ts';
import { cancelling } from './recorded-change.ts';
import { versionOf } from './jail-version.ts';
import type { Journal } from '../journal/journal.ts';
import type { Origin } from '../journal/records.ts';
import type { SetEntry, SetOutcome } from '../journal/set-entry.ts';
import { SetWriter, type UndoneBy } from './set-writer.ts';

/** The caller of a change: a call, or its signal. */
export type Caller = Pick<AbortSignal, 'throwIfAborted'> & Noting;

interface Noting extends Origin {
  /** Receives a report of each change, if the call asked for reports. */
  readonly noteChange?: NoteChange | undefined;
}

/** The caller of a change that takes long enough to be aborted by its signal. */
export interface ChangeScope extends Noting {
  readonly signal: AbortSignal;
}

interface AddsNotes {
  /** Receives a note for the caller about a change that was made. */
  readonly addNote?: ((note: string) => void) | undefined;
}

export interface JailChangesOptions {
  /** Syncs each change to the disk before it returns. */
  readonly isSynced: boolean;
  /** The journal that records changes for undo; none if undefined. */
  readonly journalOf?: FindJournal;
  /** Called before paths change, with those that their locks are for. */
  readonly pins?: PinOthers | undefined;
}

export class JailChanges {
  readonly #jail: Jail;
  readonly #isSynced: boolean;
  readonly #recorder: ChangeRecorder;
  readonly #pins: PinOthers | undefined;
  readonly #sets: SetWriter;
  readonly #parents: MissingParents;

  constructor(jail: Jail, { isSynced, journalOf = () => undefined, pins }: JailChangesOptions) {
    this.#jail = jail;
    this.#pins = pins;
    this.#isSynced = isSynced;
    this.#sets = new SetWriter(jail, { isSynced, journalOf, pins });
    this.#recorder = new ChangeRecorder(journalOf, jail.keyOf);
    this.#parents = new MissingParents(jail, { isSynced, recorder: this.#recorder });
  }

  /** Runs the work with a lock on the file that a write to the path reaches, symlinks followed. */
  onTarget<T>(path: string, caller: Caller, work: (target: JailEntry) => Promise<T>): Promise<T> {
    return this.#alone('target', [path], caller, ([target]) => work(target!));
  }

  /** Runs the work with a lock on the path itself; a symlink at its end is not followed. */
  onEntry<T>(path: string, caller: Caller, work: (entry: JailEntry) => Promise<T>): Promise<T> {
    return this.#alone('entry', [path], caller, ([entry]) => work(entry!));
  }

  /**
   * Writes a file. Default mode: that of the replaced file, else 0644. A caller that has just read the file passes its
   * content as `before`, so that it is not read again; it may also pass the `version` of the new bytes.
   */
  async write(target: JailEntry, bytes: Uint8Array, { parents = false, ...what }: WriteWhat = {}): Promise<Written> {
    await this.#pin(target);
    return parents
      ? await this.#parents.within(target, () => this.#write(target, bytes, what))
      : await this.#write(target, bytes, what);
  }

  async #write(target: JailEntry, bytes: Uint8Array, { mode, before, version }: WriteWhat): Promise<Written> {
    const { noteChange } = target;
    const was = noteChange && (before ?? (await comparable(target)));
    const known = { before, content: bytes, version: () => version ?? versionOf(bytes) };
    const recordFirst = this.#recorder.file(target, known);
    const written = await writeWhole(target, bytes, { mode, isSynced: this.#isSynced, before, recordFirst });
    const change = noteChange && contentChange(target, was, bytes);
    if (change) noteChange(change);
    return written;
  }

  /**
   * Writes a stream to a temporary file and renames it after the last byte; returns the size. The path is locked only for
   * the rename, so other callers may change the file until then.
   */
  async writeStream(
    path: string,
    bytes: AsyncIterable<Uint8Array>,
    { mode, parents, ...scope }: { mode?: number; parents: boolean } & ChangeScope,
  ): Promise<Written & { size: number }> {
    const { signal, noteChange } = scope;
    using beside = this.#jail.target(path);
    beside.origin = scope;
    await this.#pin(beside);
    if (parents) await this.#parents.make(beside);
    using pending = await PendingFile.at(beside, { isHashed: this.#recorder.keeps(beside) });
    const kept = noteChange && new ComparablePieces();
    let size = 0;
    for await (const piece of bytes) {
      await pending.append(piece);
      kept?.add(piece);
      size += piece.length;
      signal.throwIfAborted();
    }
    const commit = async (target: JailEntry) => {
      await this.#pin(target);
      const before = noteChange && (await comparable(target));
      const recordFirst = this.#recorder.file(target, { version: () => pending.version });
      const written = await pending.commit({ mode, isSynced: this.#isSynced, recordFirst }, target);
      const change = kept && contentChange(target, before, kept.all);
      if (change) noteChange?.(change);
      return written;
    };
    const caller = { ...scope, throwIfAborted: () => signal.throwIfAborted() };
    return { size, ...(await this.onTarget(path, caller, commit)) };
  }

  /** Removes an entry; a directory that is not empty only if `recursive`. Returns false if the path is missing. */
  async remove(
    entry: JailEntry,
    { recursive, signal, addNote }: { recursive: boolean; signal: AbortSignal } & AddsNotes,
  ): Promise<boolean> {
    const { refusal } = this.#jail;
    await this.#pin(entry);
    const before = entry.noteChange && (await comparable(entry));
    const isRemoved = await reportParts(entry.noteChange, (notePart) =>
      removeEntry(entry, { recursive, refusal, signal, notePart, addNote, recorder: this.#recorder }),
    );
    if (isRemoved) entry.noteChange?.(removal(entry, before));
    if (isRemoved) await this.#sync(entry);
    return isRemoved;
  }

  /** Creates a directory. */
  async makeDirectory(entry: JailEntry, { mode, parents }: { mode: number; parents: boolean }): Promise<void> {
    await this.#pin(entry);
    const make = async () => {
      const recorded = await this.#recorder.put(entry, { kind: 'directory', mode });
      cancelling(recorded, () => entry.act((at) => mkdirSync(at, mode)));
    };
    await (parents ? this.#parents.within(entry, make) : make());
    entry.setPermissions({ mode });
    entry.noteChange?.({ path: entry.path, kind: 'created', is_directory: true });
    await this.#sync(entry);
  }

  /** Sets the permission bits. */
  async chmod(target: JailEntry, mode: number): Promise<void> {
    await this.#pin(target);
    this.#setPermissions(target, { mode });
    target.noteChange?.({ path: target.path, kind: 'mode' });
  }

  /** Sets permission bits and owner, of everything below too if `recursive`; returns the number of changed entries. */
  async setPermissions(
    entry: JailEntry,
    permissions: Permissions,
    { recursive, signal }: { recursive: boolean; signal: AbortSignal },
  ): Promise<number> {
    if (!entry.stat) throw new HostError('missing', entry.path);
    if (entry.isRoot) throw new HostError('root', entry.path);
    await this.#pin(entry);
    const { refusal } = this.#jail;
    const keepAll = (changed: readonly Below[]) => this.#recorder.modes(entry, permissions, changed);
    const below = (notePart?: NoteChange) =>
      setPermissionsBelow(entry, permissions, { refusal, signal, keepAll, notePart });
    const count = recursive ? await reportParts(entry.noteChange, below) : 1;
    if (!recursive) this.#setPermissions(entry, permissions);
    entry.noteChange?.({ path: entry.path, kind: 'mode' });
    return count;
  }

  /** Renames an entry. An existing destination is replaced only with `overwrite`. */
  rename(
    from: string,
    to: string,
    { overwrite, addNote, ...scope }: { overwrite: boolean } & AddsNotes & ChangeScope,
  ): Promise<void> {
    const { signal, noteChange } = scope;
    return this.#alone('entry', [from, to], signal, async (entries) => {
      const [source, target] = entries as [JailEntry, JailEntry];
      if (!source.stat) throw new HostError('missing', from);
      if (target.stat && !overwrite) throw new HostError('exists', to);

      const { refusal } = this.#jail;
      await refuseNamesBelow(source, { refusal, signal });
      await this.#pin(source, target);
      const recorded = await this.#recorder.for(scope).move(source, target);
      const isSynced = this.#isSynced;
      const move = (notePart?: NoteChange) => moveEntry(source, target, { isSynced, signal, notePart });
      await reportParts(noteChange, move).catch((error: unknown) => {
        recorded?.cancel();
        throw error;
      });
      if (recorded?.note !== undefined) addNote?.(recorded.note);
      noteChange?.({ path: to, kind: 'renamed', from, ...(source.stat.isDirectory() && { is_directory: true }) });
      await this.#sync(source);
      await this.#sync(target);
    });
  }

  /** Copies a file or directory, following symlinks in `from`. Replaces an existing destination only with `overwrite`. */
  copy(
    from: string,
    to: string,
    { overwrite, refuse, addNote, ...scope }: Pick<CopyOptions, 'overwrite' | 'refuse' | 'addNote'> & ChangeScope,
  ): Promise<void> {
    const { signal } = scope;
    const { noteChange, ...quiet } = scope;
    const writeSet = this.journalOf(to)?.isAvailable
      ? (entries: readonly SetEntry[]) => this.writeSet(entries, quiet)
      : undefined;
    const recorder = this.#recorder.for(scope);
    const copying = { overwrite, refuse, addNote, signal, isSynced: this.#isSynced, recorder, writeSet };
    return this.#alone('target', [to], signal, async ([target]) => {
      await this.#pin(target!);
      await reportParts(noteChange, (notePart) => copyTo(this.#jail, from, target!, { ...copying, notePart }));
      noteChange?.({ path: to, kind: target!.stat ? 'modified' : 'created' });
    });
  }

  /** Changes several files, all or nothing, even after a crash. Throws `SetConflict` on an unexpected version. */
  writeSet(entries: readonly SetEntry[], scope: ChangeScope, undo?: UndoneBy): Promise<SetOutcome> {
    return this.#sets.write(entries, scope, undo);
  }

  /** The journal that records changes of the path. */
  journalOf(path: string): Journal | undefined {
    return this.#sets.journalOf(path);
  }

  /** Before the change, so that other changes still see the former entry. */
  async #pin(...entries: readonly JailEntry[]): Promise<void> {
    await this.#pins?.(entries.map(this.#jail.keyOf));
  }

  #setPermissions(entry: JailEntry, permissions: Permissions): void {
    this.#recorder.modes(entry, permissions);
    entry.setPermissions(permissions);
  }

  async #sync(entry: JailEntry): Promise<void> {
    if (this.#isSynced) await entry.syncDirectory();
  }

  /** Runs the work with locks on the resolved paths, which report to the caller. */
  #alone<T>(
    kind: 'target' | 'entry',
    paths: readonly string[],
    caller: Caller,
    work: (entries: JailEntry[]) => Promise<T>,
  ): Promise<T> {
    return whileLocked(this.#jail, { kind, paths, caller }, (entries) => work(withOrigin(entries, caller)));
  }
}

interface WriteWhat {
  mode?: number;
  parents?: boolean;
  before?: Uint8Array;
  version?: string | Promise<string>;
}

function withOrigin(entries: JailEntry[], caller: Noting): JailEntry[] {
  const { noteChange } = caller;
  for (const entry of entries) {
    if (noteChange) entry.noteChange = noteChange;
    entry.origin = caller;
  }
  return entries;
}
