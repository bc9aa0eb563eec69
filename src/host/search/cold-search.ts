/**
 * A search that reads the files.
 *
 * A few milliseconds of it are done here, which is all that most need and faster than waking a thread. The rest
 * goes to threads in batches that are counted, so that results are taken in the order of the paths however they
 * come in. While threads work this one walks ahead, then takes batches itself.
 */
import type { ByteString } from '../byte-string.ts';
import { RegexError } from '../regex/index.ts';
import { walkDirsBelow, type OpenWalkDir, type WalkDir } from '../walk-dir.ts';
import { walk, type WalkFilter, type WalkStep } from '../walk.ts';
import type { BatchResult, Run } from './batch.ts';
import { Collector, FileSearch } from './file-search.ts';
import type { Query, SearchAnswer } from './query.ts';
import type { Batch, ScanClient } from './scan-worker.ts';
import { Tally } from './tally.ts';
import type { FromSearch, Workspace } from './thread-messages.ts';
import type { ThreadPool } from './thread-pool.ts';
import { Turns } from './turns.ts';

/** What is searched, and what is passed over. */
export interface Scope {
  /** Canonical path of the directory from the root. */
  readonly path: ByteString;
  /** Whether a file belongs to the search, by its path from the root. */
  accepts(dir: ByteString, name: ByteString): boolean;
  readonly filter?: WalkFilter;
}

export interface ColdSurroundings {
  workspace: Workspace;
  pool: ThreadPool;
  /** Work that is done before any thread is woken. */
  aloneMs: number;
  signal: AbortSignal;
}

/** Short, because threads run dry while this one does not listen. */
const TURN_MS = 1;
const BATCH_FILES = 128;

/** Batches walked ahead of the threads; then this thread searches instead, for the answer may be near. */
const MAX_WAITING = 16;

/** What the main thread searches of a file within a turn: much of it as bytes, little of it in lower case. */
const MAX_BYTES_HERE = 16 * 2 ** 20;
const MAX_FOLDED_BYTES_HERE = 128 * 1024;

const NOTHING: BatchResult = { outcomes: new Uint8Array(), found: [] };

let lastSearchId = 0;

export class ColdSearch implements ScanClient {
  readonly id = ++lastSearchId;
  readonly query: Query;
  readonly stop = new Int32Array(new SharedArrayBuffer(4));
  readonly waiting: Batch[] = [];
  readonly #pool: ThreadPool;
  readonly #openDir: OpenWalkDir;
  readonly #scope: Scope;
  readonly #turns: Turns;
  readonly #signal: AbortSignal;
  readonly #tally: Tally;
  /** Undefined for a regex, which only threads may run. */
  readonly #here: FileSearch | undefined;
  #aloneUntil: number;

  #runs: Run[] = [];
  #runFiles = 0;
  /** Runs of batches whose results were not taken yet, by batch. */
  readonly #submitted = new Map<number, readonly Run[]>();
  readonly #results = new Map<number, BatchResult>();
  #lastBatch = 0;
  #nextResult = 1;
  #error: Error | undefined;
  #wake = () => {};

  constructor(query: Query, scope: Scope, { workspace, pool, aloneMs, signal }: ColdSurroundings) {
    this.query = query;
    this.#aloneUntil = performance.now() + aloneMs;
    this.#pool = pool;
    this.#openDir = walkDirsBelow(workspace.root, workspace.mode);
    this.#scope = scope;
    this.#signal = signal;
    this.#turns = new Turns(signal, TURN_MS);
    this.#tally = new Tally(query);
    const maxBytesHere = query.ignoreCase ? MAX_FOLDED_BYTES_HERE : MAX_BYTES_HERE;
    this.#here = query.isRegex ? undefined : new FileSearch(query, undefined, maxBytesHere);
  }

  async run(): Promise<SearchAnswer> {
    let steps: Generator<WalkStep> | undefined;
    this.#pool.enter(this);
    try {
      steps = walk(this.#openDir(this.#scope.path), this.#scope.filter);
      // An empty batch has the pattern compiled, or refused, even if there is no file.
      if (this.query.isRegex) this.#submit([]);
      await this.#walk(steps);
      if (this.#runs.length > 0 && !this.#tally.isDone) this.#submit(this.#runs);
      await this.#searchWaiting(0);
      while (!this.#isDone) await this.#nextMessage();
      return this.#tally.answer;
    } finally {
      steps?.return(undefined);
      this.#pool.leave(this);
    }
  }

  receive(message: FromSearch): void {
    if (message.kind === 'result') this.#take(message.batchId, message.result);
    if (message.kind === 'bad-regex') this.fail(new RegexError(message.pattern, message.reason));
    if (message.kind === 'broken') this.fail(new Error(message.stack));
    this.#wake();
  }

  fail(error: Error): void {
    this.#error ??= error;
    this.#wake();
  }

  async #walk(steps: Iterable<WalkStep>): Promise<void> {
    for (const step of steps) {
      if (step.kind === 'files') this.#addFiles(step.dir, step.names);
      if (step.kind === 'skipped') this.#addRun({ dir: this.#scope.path, names: [], skipped: step });
      if (this.#turns.isOver) await this.#turns.next();
      if (this.waiting.length > MAX_WAITING) await this.#searchWaiting(MAX_WAITING);
      if (this.#error || this.#tally.isDone) return;
    }
  }

  #addFiles(dir: WalkDir, listed: ByteString[]): void {
    const names = listed.filter((name) => this.#scope.accepts(dir.path, name));
    const done = this.#isAlone ? this.#searchHere(dir, names) : 0;
    if (done < names.length) this.#endSolitude();
    for (let from = done; from < names.length; from += BATCH_FILES) {
      this.#addRun({ dir: dir.path, names: names.slice(from, from + BATCH_FILES) });
    }
  }

  get #isAlone(): boolean {
    return this.#here !== undefined && performance.now() < this.#aloneUntil;
  }

  /** From now on all goes to batches, even if a moment is left, or results would overtake each other. */
  #endSolitude(): void {
    this.#aloneUntil = 0;
  }

  #searchHere(dir: WalkDir, names: ByteString[]): number {
    const collector = new Collector(this.query.maxMatches);
    const done = this.#here!.search(dir, names, collector, () => !this.#isAlone);
    this.#tally.add([{ dir: dir.path, names }], collector.take());
    return collector.isFull ? names.length : done;
  }

  #addRun(run: Run): void {
    if (this.#isAlone) {
      this.#tally.add([run], NOTHING);
      return;
    }
    this.#endSolitude();
    this.#runs.push(run);
    this.#runFiles += run.names.length;
    if (this.#runFiles >= BATCH_FILES) this.#submit(this.#runs);
  }

  #submit(runs: Run[]): void {
    const id = ++this.#lastBatch;
    this.#submitted.set(id, runs);
    this.waiting.push({ id, runs });
    this.#runs = [];
    this.#runFiles = 0;
    this.#pool.dispatch();
  }

  /** Searches here what no thread has taken yet, until only so many batches are left. */
  async #searchWaiting(count: number): Promise<void> {
    while (!this.#isDone && this.waiting.length > count) {
      const batch = this.#here && this.waiting.find(({ isForThreads }) => !isForThreads);
      if (batch) this.#searchBatchHere(batch);
      else await this.#nextMessage();
      if (this.#turns.isOver) await this.#turns.next();
    }
  }

  #searchBatchHere(batch: Batch): void {
    const collector = new Collector(this.query.maxMatches);
    for (const run of batch.runs) {
      if (this.#here!.searchRun(this.#openDir, run, collector, () => false)) continue;
      if (collector.isFull) break;
      batch.isForThreads = true;
      return;
    }
    this.waiting.splice(this.waiting.indexOf(batch), 1);
    this.#take(batch.id, collector.take());
  }

  #take(batchId: number, result: BatchResult): void {
    this.#results.set(batchId, result);
    for (let next = this.#results.get(this.#nextResult); next; next = this.#results.get(this.#nextResult)) {
      this.#tally.add(this.#submitted.get(this.#nextResult)!, next);
      this.#submitted.delete(this.#nextResult);
      this.#results.delete(this.#nextResult++);
      if (this.#tally.isDone) return;
    }
  }

  get #isDone(): boolean {
    if (this.#error) throw this.#error;
    return this.#tally.isDone || this.#nextResult > this.#lastBatch;
  }

  async #nextMessage(): Promise<void> {
    const message = new Promise<void>((resolve) => (this.#wake = resolve));
    this.#signal.addEventListener('abort', this.#wake, { once: true });
    this.#pool.dispatch();
    await message;
    this.#signal.removeEventListener('abort', this.#wake);
    this.#signal.throwIfAborted();
  }
}
