/**
 * The journal of a directory: the changes that calls made in it, with the former content for undo.
 *
 * Several processes may write it at once. A record belongs to the process that claimed its number by creating its first
 * image. Only the log is locked, and only while it is shortened.
 */
import { hash } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { isErrno } from '../host-error.ts';
import { Eviction } from './evict.ts';
import { KnownRecords } from './known-records.ts';
import { JournalLog } from './log.ts';
import { OpenRecord } from './open-record.ts';
import type { FileState, JournalChange, JournalRecord, Origin } from './records.ts';
import { ImageStore } from './store.ts';
import { TreeSums } from './tree-sums.ts';

export interface JournalLimits {
  readonly maxBytes: number;
  readonly maxRecords: number;
  readonly maxAgeMs: number;
  readonly maxImageBytes: number;
}

export class Journal {
  /** Canonical. */
  readonly root: string;
  readonly limits: JournalLimits;
  readonly store: ImageStore;
  readonly log: JournalLog;
  readonly #known = new KnownRecords();
  readonly #open = new WeakMap<object, OpenRecord>();
  readonly #eviction: Eviction;
  /** Sums of removed directories. */
  readonly sums: TreeSums;
  /** Roll backs that a full disk stopped; each returns whether it is done. */
  readonly unfinished = new Set<() => Promise<boolean>>();
  #isMade: boolean | undefined;

  constructor(root: string, { stateDir, limits }: { stateDir: string; limits: JournalLimits }) {
    this.root = root;
    this.limits = limits;
    this.store = new ImageStore(join(stateDir, 'journal', hash('sha256', root).slice(0, 32)));
    this.log = new JournalLog(join(this.store.directory, 'log'));
    this.#eviction = new Eviction(this);
    this.sums = new TreeSums(this);
  }

  /** Whether its directory exists or can be made. */
  get isAvailable(): boolean {
    this.remake();
    return this.#make();
  }

  /** Whether changes are recorded. */
  get isKept(): boolean {
    return this.limits.maxRecords > 0 && this.#make();
  }

  /** The record of a call, which has all its changes. Work without a call gets a record of its own. */
  recordOf(origin: Origin): OpenRecord {
    const key = origin.call;
    const known = key && this.#open.get(key);
    if (known) return known;
    const made = new OpenRecord(this, origin);
    if (key) this.#open.set(key, made);
    return made;
  }

  /** A new record, also if the call has one already. */
  begin(origin: Origin, more: ConstructorParameters<typeof OpenRecord>[2]): OpenRecord {
    return new OpenRecord(this, origin, more);
  }

  /** A path of a change, from an absolute one. */
  pathFrom(absolute: string): string {
    const prefix = this.root === '/' ? '/' : `${this.root}/`;
    return absolute.startsWith(prefix) ? absolute.slice(prefix.length) : absolute;
  }

  /** All records by number, including those that other processes have added. */
  records(): ReadonlyMap<number, JournalRecord> {
    return this.#read().bySeq;
  }

  /** Yields all records, newest first. */
  newestFirst(): Iterable<JournalRecord> {
    return this.#read().newestFirst();
  }

  /** Before-images of the path with this version. */
  imagesOf(path: string, version: string): readonly FileState[] {
    return this.#read().imagesOf(path, version);
  }

  get next(): number {
    return this.#known.next;
  }

  /** The highest number that eviction removed; earlier records may be gone too. */
  get evicted(): number {
    return this.#known.evicted;
  }

  /** Returns the next number, which another process may have claimed. */
  advance(): number {
    return this.#known.advance();
  }

  /** False if another process has used this number or a later one since `advance` returned it. */
  isNewest(seq: number): boolean {
    if (this.log.hasNew) this.records();
    return this.#known.next === seq + 1;
  }

  /** Makes the roll backs that a full disk stopped; false if one still waits for space. */
  async rollBackLeft(): Promise<boolean> {
    for (const finishOne of this.unfinished) if (await finishOne()) this.unfinished.delete(finishOne);
    return this.unfinished.size === 0;
  }

  /** Evicts records over the limits, after the reply. */
  evictSoon(changes: readonly JournalChange[], logBytes: number): void {
    this.#eviction.soon(changes, logBytes);
  }

  evict(): Promise<void> {
    return this.#eviction.run();
  }

  close(): void {
    this.#eviction.stop();
    this.sums.stop();
    this.log.close();
  }

  /** Makes the directory again if another program removed it; false if it is there, or cannot be made. */
  remake(): boolean {
    if (this.#isMade !== true || existsSync(this.store.preparedDir)) return false;
    this.log.close();
    this.#isMade = undefined;
    return this.#make();
  }

  #make(): boolean {
    if (this.#isMade !== undefined) return this.#isMade;
    try {
      this.store.make();
      writeFileSync(join(this.store.directory, 'root'), `${this.root}\n`, { mode: 0o600 });
      this.#isMade = true;
      this.records();
    } catch (error) {
      if (!isErrno(error)) throw error;
      this.#isMade = false;
    }
    return this.#isMade;
  }

  #read(): KnownRecords {
    if (!this.isAvailable) return this.#known;
    const { lines, isNew } = this.log.readNew();
    if (isNew) this.#known.clear();
    for (const { line, bytes } of lines) this.#known.take(line, bytes);
    return this.#known;
  }
}
