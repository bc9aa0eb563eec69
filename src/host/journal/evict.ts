/**
 * Evicts records so that a journal stays within its limits: the oldest first, checkpoints last.
 *
 * One process evicts at a time; the lock of a dead process does not count. Records are evicted in batches, because each
 * eviction rewrites the log.
 */
import { closeSync, openSync, readdirSync, readFileSync, lstatSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';

import { bytesIn } from '../changes/tree-sum.ts';
import { isAlive, OWN_MARK, PID_SPACE } from '../system/process-mark.ts';
import type { Journal } from './journal.ts';
import type { JournalChange, JournalRecord, State } from './records.ts';

/** Records between two checks of the limits, fewer if their images are large, and the delay of a check. */
const NOTES = 256;
const DELAY_MS = 1000;

const LOCKED_MS = 60_000;

/** Share of a limit that eviction keeps once the limit is exceeded. */
const LEFT_OVER = 0.9;

/** Age at which an image without a record is removed, such as one left by a killed process. */
const ORPHAN_MS = 3_600_000;

export class Eviction {
  readonly #journal: Journal;
  #notes = NOTES - 1;
  /** Bytes of images and log lines kept since the last check. */
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  /** Schedules a check if these changes may exceed a limit. */
  soon(changes: readonly JournalChange[], logBytes: number): void {
    this.#bytes += logBytes;
    for (const { before } of changes) this.#bytes += bytesKept(before);
    const isMuch = this.#bytes > this.#journal.limits.maxBytes * (1 - LEFT_OVER);
    if ((++this.#notes < NOTES && !isMuch) || this.#timer) return;
    this.#notes = 0;
    this.#bytes = 0;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      // Images that cannot be removed now are retried by the next run.
      void this.run().catch(() => {});
    }, DELAY_MS).unref();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async run(): Promise<void> {
    const { store } = this.#journal;
    if (!this.#journal.isAvailable) return;
    // A removed directory without a sum counts no bytes.
    await this.#journal.sums.settle(this.#journal.records().values());
    const going = this.#goingNow();
    if (going.size === 0) return;
    const lock = join(store.directory, 'lock');
    if (!takeLock(lock)) return;
    try {
      await this.#remove(this.#goingNow());
    } finally {
      unlinkSync(lock);
    }
  }

  async #remove(going: ReadonlySet<number>): Promise<void> {
    const { store, log } = this.#journal;
    const records = this.#journal.records();
    const kept = [...records.values()].filter(({ seq }) => !going.has(seq));
    let { evicted } = this.#journal;
    for (const seq of going) evicted = Math.max(evicted, seq);
    const lines = kept.map(({ seq, at, undoneBy: _, undonePaths: __, logBytes: ___, changes, ...head }) => ({
      seq,
      part: 0,
      at,
      ...head,
      changes,
    }));
    log.shrink([{ next: this.#journal.next, evicted }, ...lines]);
    for (const seq of going) {
      for (const { before } of records.get(seq)?.changes ?? []) {
        if (before.kind === 'directory' && before.tree !== undefined) await store.dropTree(before.tree);
      }
    }
    const left = new Set(kept.map(({ seq }) => seq));
    for (const name of readdirSync(join(store.directory, 'images'))) {
      const seq = Number.parseInt(name, 10);
      if (going.has(seq) || (!left.has(seq) && isOld(store.pathOf('images', name)))) store.drop(name);
    }
  }

  /** The records beyond the limits of count, bytes and age: the oldest, and any that is larger than the limit. */
  #goingNow(): Set<number> {
    const { maxRecords, maxBytes, maxAgeMs } = this.#journal.limits;
    const sized = [...this.#journal.records().values()].map((record) => ({
      record,
      size: bytesOf(record) + record.logBytes,
    }));
    // One that exceeds the limit alone is the first: otherwise all older ones are evicted for it, and then it.
    const rank = ({ record, size }: (typeof sized)[number]) =>
      size > maxBytes ? 0 : record.label === undefined ? 1 : 2;
    sized.sort((a, b) => rank(a) - rank(b) || a.record.seq - b.record.seq);
    let bytes = sized.reduce((sum, { size }) => sum + size, 0);
    let count = sized.length;
    const isOver = count > maxRecords || bytes > maxBytes;
    const most = isOver ? { count: maxRecords * LEFT_OVER, bytes: maxBytes * LEFT_OVER } : { count, bytes };
    const oldest = Date.now() - maxAgeMs;
    const going = new Set<number>();
    for (const { record, size } of sized) {
      const { seq, at } = record;
      if (count <= most.count && bytes <= most.bytes && at >= oldest) continue;
      going.add(seq);
      count--;
      bytes -= size;
    }
    return going;
  }
}

/** Bytes of the before-images that a record keeps on the disk. */
export function bytesOf({ changes, undoneBy, undonePaths }: JournalRecord): number {
  if (undoneBy !== undefined) return 0;
  return changes.reduce((sum, { path, before }) => sum + (undonePaths?.has(path) ? 0 : bytesKept(before)), 0);
}

function bytesKept(state: State): number {
  if (state.kind === 'file') return state.image === undefined ? 0 : state.size;
  return state.kind === 'directory' && state.tree !== undefined ? bytesIn(state.contents) : 0;
}

function isOld(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat !== undefined && stat.ctimeMs < Date.now() - ORPHAN_MS;
}

/** False while another process holds the lock. */
function takeLock(path: string): boolean {
  for (let attempt = 0; attempt < 2; attempt++) {
    try {
      const fd = openSync(path, 'wx', 0o600);
      writeSync(fd, `${PID_SPACE} ${OWN_MARK}`);
      closeSync(fd);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || isLocked(path)) return false;
      unlinkSync(path);
    }
  }
  return false;
}

/** A lock without a process mark, or of another container, counts as taken for a minute: its owner is unknown. */
function isLocked(path: string): boolean {
  try {
    const [space, mark] = readFileSync(path, 'utf8').split(' ');
    const isNew = Date.now() - lstatSync(path).mtimeMs < LOCKED_MS;
    return space === PID_SPACE && mark !== undefined ? isAlive(mark) : isNew;
  } catch {
    return true;
  }
}
