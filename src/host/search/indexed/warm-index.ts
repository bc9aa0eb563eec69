/**
 * Main-thread side of the index: parts of the tree, each with a thread of its own.
 *
 * The index is optional: when it is absent, not ready or busy, it returns nothing and the caller reads the files, with
 * the same result. After a failure it is not rebuilt for a while.
 */
import type { OpenWalkDir } from '../../walk/walk-dir.ts';
import type { Findings } from '../findings.ts';
import type { IndexOptions } from './index-messages.ts';
import { IndexPart } from './index-part.ts';
import { splitTree } from './index-range.ts';
import { LoadProgress } from './load-progress.ts';
import type { Progress } from '../query.ts';
import type { SearchOrder } from '../scan/scan-messages.ts';

const RETRY_MS = 10_000;
const MAX_RETRY_MS = 600_000;
const STOP_GRACE_MS = 250;

export class WarmIndex {
  readonly #options: IndexOptions;
  readonly #openDir: OpenWalkDir;
  readonly #partCount: number | undefined;
  #parts: IndexPart[] = [];
  /** Aborts the running build; undefined when none was started. */
  #building: AbortController | undefined;
  #isReady = false;
  /** The search that the parts work on. */
  #searching: number | undefined;
  /** Whether a part reported new hard links since the search began: the others may have answered too soon. */
  #hasNewLinks = false;
  readonly #load = new LoadProgress();
  readonly #readers = new Int32Array(new SharedArrayBuffer(4));
  #notBefore = 0;
  /** Grows after each failure: the cause often persists. */
  #retryMs = RETRY_MS;

  constructor(options: IndexOptions, openDir: OpenWalkDir, partCount?: number) {
    this.#options = options;
    this.#openDir = openDir;
    this.#partCount = partCount;
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  get isStarted(): boolean {
    return this.#building !== undefined;
  }

  /** Starts to build the index, unless it exists or has just failed. */
  start(): void {
    if (this.#building || performance.now() < this.#notBefore) return;
    const building = new AbortController();
    this.#building = building;
    this.#build(building.signal).catch(() => {
      if (this.#building === building) this.#drop();
    });
  }

  /** Resolves when loading has finished or failed. */
  async loaded(): Promise<void> {
    if (this.#building && !this.#isReady) await this.#load.ended();
  }

  /** Findings in path order; undefined when reading the files is better. */
  async search(order: SearchOrder, signal: AbortSignal, progress: Progress): Promise<Findings[] | undefined> {
    if (this.#building && !this.#isReady) await this.#load.endsSoon(signal);
    if (!this.#isReady || this.#parts.length === 0 || this.#searching !== undefined) return undefined;

    const { id } = order;
    const stop = new Int32Array(new SharedArrayBuffer(8));
    this.#searching = id;
    this.#hasNewLinks = false;
    // All parts, also those without files below `start`: each may know of hard links to files in another.
    const replies = this.#parts.map((part) => part.search({ ...order, stop }));
    const ended = Promise.allSettled(replies).then(() => {
      if (this.#searching === id) this.#searching = undefined;
      return this.#hasNewLinks;
    });
    let abort = () => {};
    const aborted = new Promise<never>((_, reject) => {
      abort = () => {
        Atomics.store(stop, 0, 1);
        progress.files = Atomics.load(stop, 1);
        setTimeout(() => this.#abandon(id), STOP_GRACE_MS).unref();
        reject(signal.reason as Error);
      };
    });
    signal.addEventListener('abort', abort, { once: true });
    try {
      const findings = await Promise.race([Promise.all(replies), aborted]);
      const hasNewLinks = await ended;
      return hasNewLinks || findings.includes(undefined) ? undefined : (findings as Findings[]);
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  /** Records how long reading all files took: the measure for waiting for the index. */
  noteReading(files: number, ms: number): void {
    this.#load.noteReading(files, ms);
  }

  /** Pauses loading while a search reads the files. */
  async whileReading<T>(read: () => Promise<T>): Promise<T> {
    Atomics.add(this.#readers, 0, 1);
    try {
      return await read();
    } finally {
      Atomics.sub(this.#readers, 0, 1);
      Atomics.notify(this.#readers, 0);
    }
  }

  close(): void {
    this.#drop();
    this.#notBefore = Infinity;
  }

  async #build(signal: AbortSignal): Promise<void> {
    const ranges = await splitTree(this.#openDir, { partCount: this.#partCount, signal });
    signal.throwIfAborted();
    const keptBytes = new Int32Array(new SharedArrayBuffer(4));
    for (const range of ranges) {
      const data = { ...this.#options, range, partCount: ranges.length, keptBytes, readers: this.#readers };
      // Ignores messages of a part that was closed.
      const ifCurrent = (act: () => void) => {
        if (this.#parts.includes(part)) act();
      };
      const part = new IndexPart(data, {
        onLoaded: () => ifCurrent(() => this.#noteLoaded()),
        onLinked: (inodes) => ifCurrent(() => this.#noteLinked(part, inodes)),
        onUnusable: () => ifCurrent(() => this.#drop()),
      });
      this.#parts.push(part);
    }
  }

  #noteLoaded(): void {
    const parts = this.#parts;
    const files = parts.reduce((sum, { loaded }) => sum + loaded.files, 0);
    this.#load.note({ files, ms: Math.max(...parts.map(({ loaded }) => loaded.ms)) });
    if (!parts.every(({ isReady }) => isReady)) return;
    this.#isReady = true;
    this.#load.end();
  }

  /** A write through a name in one part is not reported under the file's name in another. */
  #noteLinked(from: IndexPart, inodes: readonly number[]): void {
    const others = this.#parts.filter((part) => part !== from);
    for (const part of others) part.noteLinked(inodes);
    this.#hasNewLinks ||= others.length > 0;
  }

  /** Drops the index if a search does not stop, as in the middle of a slow regex. */
  #abandon(id: number): void {
    if (this.#searching === id) this.#drop();
  }

  #drop(): void {
    const parts = this.#parts;
    this.#parts = [];
    this.#building?.abort();
    this.#building = undefined;
    this.#isReady = false;
    this.#searching = undefined;
    this.#load.end();
    this.#notBefore = performance.now() + this.#retryMs;
    this.#retryMs = Math.min(2 * this.#retryMs, MAX_RETRY_MS);
    for (const part of parts) part.close();
  }
}
