/**
 * The index seen from the main thread: parts of the tree, each with a thread of its own.
 *
 * It is an advantage and never a condition: whenever it is not there, not ready or busy, there is no answer and the
 * caller reads the files, with the same result. One that gave up is not tried again for a while.
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
  /** Aborts when what is being built is no longer wanted; undefined when nothing was begun. */
  #building: AbortController | undefined;
  #isReady = false;
  /** The search that the parts work for. */
  #searching: number | undefined;
  /** Whether a part said since the search began that files have several names: the others may have answered too soon. */
  #hasNewLinks = false;
  readonly #load = new LoadProgress();
  readonly #readers = new Int32Array(new SharedArrayBuffer(4));
  #notBefore = 0;
  /** Longer after each failure: what made one fail often stays. */
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

  /** Starts to build the index, unless it is there or just failed. */
  start(): void {
    if (this.#building || performance.now() < this.#notBefore) return;
    const building = new AbortController();
    this.#building = building;
    this.#build(building.signal).catch(() => {
      if (this.#building === building) this.#giveUp();
    });
  }

  /** Resolves when it is loaded, or when it turns out that it will not be. */
  async loaded(): Promise<void> {
    if (this.#building && !this.#isReady) await this.#load.ended();
  }

  /** Findings in the order of the paths; undefined when reading the files is better. */
  async search(order: SearchOrder, signal: AbortSignal, progress: Progress): Promise<Findings[] | undefined> {
    if (this.#building && !this.#isReady) await this.#load.endsSoon(signal);
    if (!this.#isReady || this.#parts.length === 0 || this.#searching !== undefined) return undefined;

    const { id } = order;
    const stop = new Int32Array(new SharedArrayBuffer(8));
    this.#searching = id;
    this.#hasNewLinks = false;
    // All of them, also those that hold nothing below `start`: each may know of links to files in another.
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

  /** What reading all files took, which is what waiting for the index is measured by. */
  noteReading(files: number, ms: number): void {
    this.#load.noteReading(files, ms);
  }

  /** Loading waits while the files are read by a search. */
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
    this.#giveUp();
    this.#notBefore = Infinity;
  }

  async #build(signal: AbortSignal): Promise<void> {
    const ranges = await splitTree(this.#openDir, { partCount: this.#partCount, signal });
    signal.throwIfAborted();
    const keptBytes = new Int32Array(new SharedArrayBuffer(4));
    for (const range of ranges) {
      const data = { ...this.#options, range, partCount: ranges.length, keptBytes, readers: this.#readers };
      // Messages of a part that was closed may still arrive.
      const ifCurrent = (act: () => void) => {
        if (this.#parts.includes(part)) act();
      };
      const part = new IndexPart(data, {
        onLoaded: () => ifCurrent(() => this.#noteLoaded()),
        onLinked: (inodes) => ifCurrent(() => this.#noteLinked(part, inodes)),
        onGivenUp: () => ifCurrent(() => this.#giveUp()),
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

  /** What is written to a file through a name in one part is not announced under its name in another. */
  #noteLinked(from: IndexPart, inodes: readonly number[]): void {
    const others = this.#parts.filter((part) => part !== from);
    for (const part of others) part.noteLinked(inodes);
    this.#hasNewLinks ||= others.length > 0;
  }

  /** A search that does not end, as in the middle of a slow regex, costs the index. */
  #abandon(id: number): void {
    if (this.#searching === id) this.#giveUp();
  }

  #giveUp(): void {
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
