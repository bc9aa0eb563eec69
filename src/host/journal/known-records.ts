/**
 * The records of a journal, read from its log, in the order of their numbers: an undo needs the newest few, and a diff
 * the before-image of one version, however many records there are.
 */
import type { LogLine, TreeSumsByName } from './log.ts';
import type { FileState, JournalRecord, State } from './records.ts';

export class KnownRecords {
  readonly #bySeq = new Map<number, JournalRecord>();
  /** Oldest first. */
  readonly #inOrder: JournalRecord[] = [];
  /** Log lines that are in the records, or that were cancelled. */
  readonly #lines = new Set<string>();
  /** States with an image, by path and version. */
  readonly #images = new Map<string, FileState[]>();
  #next = 1;
  #evicted = 0;

  get bySeq(): ReadonlyMap<number, JournalRecord> {
    return this.#bySeq;
  }

  /** The next number, as far as the log shows. */
  get next(): number {
    return this.#next;
  }

  get evicted(): number {
    return this.#evicted;
  }

  *newestFirst(): Generator<JournalRecord> {
    for (let at = this.#inOrder.length - 1; at >= 0; at--) yield this.#inOrder[at]!;
  }

  /** States of the path with this version that had an image when they were recorded, oldest first. */
  imagesOf(path: string, version: string): readonly FileState[] {
    return this.#images.get(imageKey(path, version)) ?? [];
  }

  /** Returns the next number, which another process may have claimed. */
  advance(): number {
    return this.#next++;
  }

  /** Resets before the lines of a replaced log are read. */
  clear(): void {
    this.#bySeq.clear();
    this.#inOrder.length = 0;
    this.#lines.clear();
    this.#images.clear();
  }

  take(line: LogLine, bytes: number): void {
    if ('next' in line) {
      this.#next = Math.max(this.#next, line.next);
      this.#evicted = Math.max(this.#evicted, line.evicted);
    } else if ('cancelled' in line) {
      const record = this.#bySeq.get(line.cancelled);
      if (record && record.changes.length > 0) dropPart(record, line.part);
      if (record) record.logBytes += bytes;
      this.#lines.add(`${line.cancelled}.${line.part}`);
    } else {
      this.#takePart(line, bytes);
    }
  }

  #takePart({ seq, part, changes, sums, ...head }: Extract<LogLine, { seq: number }>, bytes: number): void {
    if (sums) return this.#takeSums(seq, sums, bytes);
    const key = `${seq}.${part}`;
    if (this.#lines.has(key)) return;
    this.#lines.add(key);
    this.#next = Math.max(this.#next, seq + 1);
    const record = this.#bySeq.get(seq) ?? this.#add({ ...head, seq, logBytes: 0, changes: [] });
    record.logBytes += bytes;
    for (const change of changes) {
      record.changes.push(Object.assign(change, { [PART]: part }));
      this.#noteImage(change.path, change.before);
    }
    for (const undone of head.undoes ?? []) {
      const target = this.#bySeq.get(undone);
      if (target) markUndone(target, { by: seq, paths: head.undoesOnly?.[undone] });
    }
  }

  #add(record: JournalRecord): JournalRecord {
    this.#bySeq.set(record.seq, record);
    // Another process may have written a later record before this one.
    let at = this.#inOrder.length;
    while (at > 0 && this.#inOrder[at - 1]!.seq > record.seq) at--;
    this.#inOrder.splice(at, 0, record);
    return record;
  }

  #noteImage(path: string, state: State): void {
    if (state.kind !== 'file' || state.image === undefined || state.version === undefined) return;
    const key = imageKey(path, state.version);
    const known = this.#images.get(key);
    if (known) known.push(state);
    else this.#images.set(key, [state]);
  }

  /** Ignores sums of a record that was evicted meanwhile. */
  #takeSums(seq: number, sums: TreeSumsByName, bytes: number): void {
    const record = this.#bySeq.get(seq);
    if (!record) return;
    record.logBytes += bytes;
    const states = record.changes.map(({ before }) => before);
    for (const [tree, contents] of Object.entries(sums)) {
      const state = states.find((before) => isOf(before, tree));
      if (state) Object.assign(state, { contents });
    }
  }
}

function imageKey(path: string, version: string): string {
  return `${version} ${path}`;
}

function isOf(state: State, tree: string): boolean {
  return state.kind === 'directory' && state.tree === tree;
}

function markUndone(record: JournalRecord, { by, paths }: { by: number; paths: readonly string[] | undefined }): void {
  const undone = new Set([...(record.undonePaths ?? []), ...(paths ?? [])]);
  if (paths && record.changes.some(({ path }) => !undone.has(path))) record.undonePaths = undone;
  else record.undoneBy = by;
}

/** The log line that a change came with. */
const PART = Symbol('part');

function dropPart(record: JournalRecord, part: number): void {
  const kept = record.changes.filter((change) => (change as { [PART]?: number })[PART] !== part);
  record.changes.splice(0, record.changes.length, ...kept);
}
