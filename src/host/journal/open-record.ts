/**
 * The record that a call writes: keeps the before-image of a path, and logs the change before it is made.
 *
 * A process that dies in between leaves the log line of a change that was not made. The file then still equals its
 * before-image, so there is nothing to undo.
 */
import { readlinkSync, type Stats } from 'node:fs';

import { HostError } from '../host-error.ts';
import { PERMISSION_BITS } from '../changes/permissions.ts';
import type { JailEntry } from '../jail/jail-entry.ts';
import type { Journal } from './journal.ts';
import {
  ABSENT,
  headOf,
  type FileState,
  type JournalChange,
  type Origin,
  type RecordHead,
  type State,
} from './records.ts';
import { codeOf } from './store.ts';
import { Versions } from '../changes/journaled-versions.ts';

/** Larger files are recognised by size and time instead of being read. */
export const MAX_HASHED_BYTES = 64 * 2 ** 20;

/** Kept state of an entry. */
export interface Kept {
  readonly state: State;
  /** The before-image, if it is a hard link. */
  readonly link?: string | undefined;
}

type ImageState = FileState & { readonly image: string };

export class OpenRecord {
  readonly #journal: Journal;
  readonly #head: RecordHead;
  #seq: number | undefined;
  /** Counts of image names and of log lines. */
  #images = 0;
  #parts = 0;

  readonly #versions: Versions | undefined;

  constructor(journal: Journal, origin: Origin, more?: Pick<RecordHead, 'label' | 'undoes' | 'undoesOnly'>) {
    this.#journal = journal;
    const { journaled } = origin.call ?? {};
    this.#versions = journaled && new Versions(journaled);
    this.#head = { ...headOf(origin), ...more };
  }

  /** Its number; the first use claims one. */
  get seq(): number {
    if (this.#seq === undefined) this.#claim((name) => this.#journal.store.claim(name));
    return this.#seq!;
  }

  /** Keeps the before-image of an entry. A caller that has just read the file passes its `version`: it is not read again. */
  keep(entry: JailEntry, version?: string): Kept | Promise<Kept> {
    const { stat } = entry;
    if (!stat) return { state: ABSENT };
    if (stat.isSymbolicLink()) return { state: { kind: 'link', to: entry.act((at) => readlinkSync(at, 'latin1')) } };
    if (stat.isDirectory()) return { state: { kind: 'directory', mode: stat.mode & PERMISSION_BITS } };
    if (!stat.isFile()) return { state: { kind: 'other' } };
    try {
      return this.#keepFile(entry, stat, version);
    } catch (error) {
      throw HostError.fromErrno(error, entry.path);
    }
  }

  #keepFile(entry: JailEntry, stat: Stats, version: string | undefined): Kept | Promise<Kept> {
    const state = fileState(stat);
    const { store, limits } = this.#journal;
    if (stat.size > limits.maxImageBytes) return { state };
    let isLinked = true;
    const image = this.#claim((name) => {
      const done = store.link(entry, name);
      if (done !== 'unlinkable') return done;
      isLinked = false;
      return store.claim(name);
    });
    const link = isLinked ? store.pathOf('images', image) : undefined;
    if (link !== undefined && version !== undefined) return { state: { ...state, image, version }, link };
    return this.#readImage(entry, { ...state, image, version }, link);
  }

  /** Copies the file where it could not be linked, and hashes it where the caller did not. */
  async #readImage(entry: JailEntry, state: ImageState, link: string | undefined): Promise<Kept> {
    const { store } = this.#journal;
    const { image, version, ...seen } = state;
    try {
      if (link === undefined) await store.copy(entry, image);
      const known = version ?? (seen.size <= MAX_HASHED_BYTES ? await store.versionOf(image) : undefined);
      return { state: { ...seen, image, ...(known !== undefined && { version: known }) }, link };
    } catch (error) {
      // The server may replace a file that it cannot read.
      if (link === undefined && error instanceof HostError && error.reason === 'denied') return { state: seen };
      throw HostError.fromErrno(error, entry.path);
    }
  }

  /** Logs changes before they are made; `cancel` revokes the line if a change fails. */
  note(changes: JournalChange[]): { cancel: () => void } {
    const { log } = this.#journal;
    try {
      const { seq } = this;
      const part = this.#parts++;
      const bytes = this.#stored(() => log.append({ seq, part, at: Date.now(), ...this.#head, changes }));
      this.#journal.evictSoon(changes, bytes);
      const added = this.#versions?.add(changes);
      return {
        cancel: () => {
          this.#cancel(part, changes);
          this.#versions?.remove(added!);
        },
      };
    } catch (error) {
      throw HostError.fromErrno(error, changes[0]?.path ?? '');
    }
  }

  #cancel(part: number, changes: readonly JournalChange[]): void {
    const { log, store } = this.#journal;
    log.append({ cancelled: this.seq, part });
    for (const { before } of changes)
      if (before.kind === 'file' && before.image !== undefined) store.drop(before.image);
  }

  /** Returns a name for an image that is made later, such as by a write set. */
  nextName(): string {
    return `${this.seq}.${++this.#images}`;
  }

  /** Claims the number by the name of the first image: only one process can create that file. */
  #claim(take: (name: string) => boolean): string {
    if (this.#seq !== undefined) {
      const name = this.nextName();
      if (!this.#stored(() => take(name))) throw new Error(`the journal has an image ${name} already`);
      return name;
    }
    for (;;) {
      const seq = this.#journal.advance();
      const name = `${seq}.0`;
      if (!this.#stored(() => take(name))) {
        // Another process has claimed this number.
        this.#journal.records();
        continue;
      }
      if (!this.#journal.isNewest(seq)) {
        // Another process used the number, and an undo or an eviction removed its image.
        this.#journal.store.drop(name);
        continue;
      }
      this.#seq = seq;
      return name;
    }
  }

  /** Runs work in the store; if it fails, makes a removed store again: a check before every change is too slow. */
  #stored<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (codeOf(error) !== 'ENOENT' || !this.#journal.remake()) throw error;
      return work();
    }
  }
}

export function fileState(stat: Pick<Stats, 'mode' | 'uid' | 'gid' | 'size' | 'mtimeMs'>): FileState {
  const { mode, uid, gid, size, mtimeMs } = stat;
  return { kind: 'file', mode: mode & PERMISSION_BITS, uid, gid, size, mtimeMs };
}

/** The state of an entry without its content. */
export function stateOfStat(stat: Stats): State {
  if (stat.isFile()) return fileState(stat);
  const { uid, gid } = stat;
  if (stat.isDirectory()) return { kind: 'directory', mode: stat.mode & PERMISSION_BITS, uid, gid };
  return stat.isSymbolicLink() ? { kind: 'link', to: '' } : { kind: 'other' };
}
