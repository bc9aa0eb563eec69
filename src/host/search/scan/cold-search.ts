/**
 * A search that reads the files.
 *
 * The first milliseconds run in this process, which is enough for most searches and faster than waking another process.
 * Then search processes each walk and search a part of the tree, and this process merges their findings. It continues
 * alone while none of them is free.
 */
import { RegexError } from '../../regex/index.ts';
import type { OpenWalkDir } from '../../walk/walk-dir.ts';
import { FileSearch } from './file-search.ts';
import { FindingsReader, FindingsWriter } from '../findings.ts';
import type { Progress, SearchAnswer } from '../query.ts';
import type { ScanClient, Task } from './scan-worker.ts';
import { Segments, type Segment } from '../match/segments.ts';
import { Tally } from '../answer-builder.ts';
import type { FromSearch, SearchOrder } from './scan-messages.ts';
import type { ScanPool } from './scan-pool.ts';
import { TreeScan, type Scope } from './tree-scan.ts';
import { Turns } from '../turns.ts';

export interface ColdSurroundings {
  readonly openDir: OpenWalkDir;
  readonly pool: ScanPool;
  /** Work done before any process is woken. */
  readonly aloneMs: number;
  readonly signal: AbortSignal;
  readonly progress: Progress;
}

const TURN_MS = 2;

/** Files in a task: few at first, because the search may end soon and must not block; more in a large tree. */
const MIN_WORK = 128;
const MAX_WORK = 2048;
const WORK_GROWTH = 32;

/**
 * How much of a file the main process searches within a turn: much if compared as bytes, little if it has to be
 * lower-cased.
 */
const MAX_BYTES_HERE = 16 * 2 ** 20;
const MAX_FOLDED_BYTES_HERE = 128 * 1024;
const MAX_LINES_HERE = 5000;

export class ColdSearch implements ScanClient {
  readonly order: SearchOrder;
  readonly #pool: ScanPool;
  readonly #openDir: OpenWalkDir;
  readonly #scope: Scope;
  readonly #turns: Turns;
  readonly #signal: AbortSignal;
  readonly #progress: Progress;
  readonly #tally: Tally;
  readonly #segments: Segments;
  readonly #given = new Map<number, Segment>();
  readonly #aloneUntil: number;
  /** Undefined for a regex, which only search processes may run. */
  readonly #here: FileSearch | undefined;
  #lastTask = 0;
  #error: Error | undefined;
  #wake = () => {};

  constructor(order: SearchOrder, scope: Scope, { openDir, pool, aloneMs, signal, progress }: ColdSurroundings) {
    const { query } = order;
    this.order = order;
    this.#aloneUntil = performance.now() + aloneMs;
    this.#pool = pool;
    this.#openDir = openDir;
    this.#scope = scope;
    this.#signal = signal;
    this.#progress = progress;
    this.#turns = new Turns(signal, TURN_MS);
    this.#tally = new Tally(query);
    this.#segments = new Segments([{ dir: scope.start }]);
    const maxBytes = query.ignoreCase ? MAX_FOLDED_BYTES_HERE : MAX_BYTES_HERE;
    const maxLines = MAX_LINES_HERE / (1 + 2 * query.contextLines);
    this.#here = query.isRegex ? undefined : new FileSearch(query, undefined, { maxBytes, maxLines });
  }

  async run(): Promise<SearchAnswer> {
    this.#pool.enter(this);
    try {
      while (!(await this.#isAnswered())) {
        const segment = this.#segments.waiting;
        const isHere = this.#here && segment && !segment.isForWorkers && !this.#areWorkersAtWork;
        if (isHere) await this.#searchHere(segment);
        else await this.#nextMessage();
      }
      return this.#tally.answer;
    } finally {
      const { filesSearched, contentMatches, pathMatches } = this.#tally.answer;
      this.#progress.files = filesSearched;
      this.#progress.matches = contentMatches.length + pathMatches.length;
      this.#pool.leave(this);
    }
  }

  get hasTask(): boolean {
    return !this.#isAlone && this.#segments.waiting !== undefined;
  }

  get needsWorker(): boolean {
    const segment = this.#segments.waiting;
    return segment !== undefined && (!this.#here || segment.isForWorkers === true);
  }

  nextTask(): Task {
    const segment = this.#segments.waiting!;
    const id = ++this.#lastTask;
    const maxWork = Math.min(Math.max(MIN_WORK, id * WORK_GROWTH), MAX_WORK);
    // A folder may hold far more than estimated, and a process that took all of it would starve the others.
    this.#segments.give(segment, { maxWork, shares: this.#pool.size });
    this.#given.set(id, segment);
    return { id, parts: segment.parts, maxWork };
  }

  giveBack({ id }: Task): void {
    this.#segments.giveBack(this.#given.get(id)!);
    this.#given.delete(id);
  }

  receive(message: FromSearch): void {
    if (message.kind === 'result') {
      const segment = this.#given.get(message.taskId);
      this.#given.delete(message.taskId);
      if (segment) this.#segments.finish(segment, message.findings, message.rest);
    }
    if (message.kind === 'bad-regex') this.fail(new RegexError(message.pattern, message.reason));
    if (message.kind === 'broken') this.fail(new Error(message.stack));
    this.#wake();
  }

  fail(error: Error): void {
    this.#error ??= error;
    this.#wake();
  }

  get #isAlone(): boolean {
    return this.#here !== undefined && performance.now() < this.#aloneUntil;
  }

  get #areWorkersAtWork(): boolean {
    if (this.#isAlone) return false;
    this.#pool.dispatch();
    return this.#pool.isServing(this);
  }

  /** Searches a segment here, until a process is free. */
  async #searchHere(segment: Segment): Promise<void> {
    this.#segments.give(segment);
    const scan = new TreeScan(this.#here!, this.#openDir, segment.parts, this.#scope);
    const writer = new FindingsWriter(this.order.query);
    try {
      let end = scan.run(writer, () => this.#turns.isOver);
      while (!this.#error && (end === 'listing' || (end === 'over' && !this.#isWorkerWaiting))) {
        await this.#turns.next();
        end = scan.run(writer, () => this.#turns.isOver);
      }
      const isAllDone = end === 'done' || end === 'full';
      const rest = this.#segments.finish(segment, writer.take(), isAllDone ? [] : scan.leave());
      if (rest) rest.isForWorkers = end === 'too-large';
    } finally {
      scan.leave();
    }
  }

  get #isWorkerWaiting(): boolean {
    return !this.#isAlone && this.#pool.offersWorker();
  }

  /** Takes the findings so far, in order, and returns whether that is all. */
  async #isAnswered(): Promise<boolean> {
    for (let next = this.#segments.takeFindings(); next; next = this.#segments.takeFindings()) {
      const reader = new FindingsReader(next);
      while (!this.#tally.add(reader, () => this.#turns.isOver)) await this.#turns.next();
      if (this.#tally.isDone) return true;
    }
    if (this.#error) throw this.#error;
    return this.#segments.isEmpty;
  }

  async #nextMessage(): Promise<void> {
    const message = new Promise<void>((resolve) => (this.#wake = resolve));
    this.#signal.addEventListener('abort', this.#wake, { once: true });
    this.#pool.dispatch();
    if (!this.#error) await message;
    this.#signal.removeEventListener('abort', this.#wake);
    this.#signal.throwIfAborted();
  }
}
