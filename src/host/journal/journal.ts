/**
 * The journal of a directory: the changes that calls made in it, with what undo needs to restore them.
 *
 * Several processes may write it at once. A record belongs to the process that claimed its number by creating its first
 * image. Only the log is locked, and only while it is shortened.
 */
import { hash } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { Eviction } from './evict.ts';
import { JournalLog, type LogLine, type TreeSumsByName } from './log.ts';
import { OpenRecord } from './open-record.ts';
import type { JournalChange, JournalRecord, Origin, State } from './records.ts';
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
  readonly #records = new Map<number, JournalRecord>();
  /** Log lines that are in `#records`, or that were cancelled. */
  readonly #known = new Set<string>();
  #next = 1;
  #evicted = 0;
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
    if (!this.isAvailable) return this.#records;
    const { lines, isNew } = this.log.readNew();
    if (isNew) {
      this.#records.clear();
      this.#known.clear();
    }
    for (const { line, bytes } of lines) this.#take(line, bytes);
    return this.#records;
  }

  get next(): number {
    return this.#next;
  }

  /** The highest number that eviction removed; earlier records may be gone too. */
  get evicted(): number {
    return this.#evicted;
  }

  /** Returns the next number, which another process may have claimed. */
  advance(): number {
    return this.#next++;
  }

  /** False if another process has used this number or a later one since `advance` returned it. */
  isNewest(seq: number): boolean {
    if (this.log.hasNew) this.records();
    return this.#next === seq + 1;
  }

  /** Evicts what is over the limits, after the reply. */
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

  #take(line: LogLine, bytes: number): void {
    if ('next' in line) {
      this.#next = Math.max(this.#next, line.next);
      this.#evicted = Math.max(this.#evicted, line.evicted);
    } else if ('cancelled' in line) {
      const record = this.#records.get(line.cancelled);
      if (record && record.changes.length > 0) dropPart(record, line.part);
      if (record) record.logBytes += bytes;
      this.#known.add(`${line.cancelled}.${line.part}`);
    } else {
      this.#takePart(line, bytes);
    }
  }

  #takePart({ seq, part, changes, sums, ...head }: Extract<LogLine, { seq: number }>, bytes: number): void {
    if (sums) return this.#takeSums(seq, sums, bytes);
    const key = `${seq}.${part}`;
    if (this.#known.has(key)) return;
    this.#known.add(key);
    this.#next = Math.max(this.#next, seq + 1);
    const record = this.#records.get(seq) ?? { ...head, seq, logBytes: 0, changes: [] };
    record.logBytes += bytes;
    for (const change of changes) record.changes.push(Object.assign(change, { [PART]: part }));
    this.#records.set(seq, record);
    for (const undone of head.undoes ?? []) {
      const target = this.#records.get(undone);
      if (target) markUndone(target, { by: seq, paths: head.undoesOnly?.[undone] });
    }
  }

  /** Ignores sums of a record that was evicted meanwhile. */
  #takeSums(seq: number, sums: TreeSumsByName, bytes: number): void {
    const record = this.#records.get(seq);
    if (!record) return;
    record.logBytes += bytes;
    const states = record.changes.map(({ before }) => before);
    for (const [tree, contents] of Object.entries(sums)) {
      const state = states.find((before) => isOf(before, tree));
      if (state) Object.assign(state, { contents });
    }
  }
}

function isOf(state: State, tree: string): boolean {
  return state.kind === 'directory' && state.tree === tree;
}

function markUndone(record: JournalRecord, { by, paths }: { by: number; paths: readonly string[] | undefined }): void {
  const undone = new Set([...(record.undonePaths ?? []), ...(paths ?? [])]);
  if (paths && record.changes.some(({ path }) => !undone.has(path))) record.undonePaths = undone;
  else record.undoneBy = by;
}

function isErrno(error: unknown): boolean {
  return error instanceof Error && 'errno' in error;
}

/** The log line that a change came with. */
const PART = Symbol('part');

function dropPart(record: JournalRecord, part: number): void {
  const kept = record.changes.filter((change) => (change as { [PART]?: number })[PART] !== part);
  record.changes.splice(0, record.changes.length, ...kept);
}
