/**
 * The index thread seen from the main thread.
 *
 * It is an advantage and never a condition: whenever it is not there, not ready or busy, there is no answer and the
 * caller reads the files, with the same result. One that gave up is not tried again for a while.
 */
import { Worker } from 'node:worker_threads';

import { RegexError } from '../regex/index.ts';
import type { Findings } from './findings.ts';
import type { FromIndex, IndexData, IndexOptions, IndexOrder } from './index-messages.ts';
import { LoadProgress } from './load-progress.ts';
import type { Progress } from './query.ts';
import type { SearchOrder } from './scan-messages.ts';

interface Waiting {
  id: number;
  resolve(findings: Findings | undefined): void;
  reject(error: Error): void;
}

const THREAD_FILE = import.meta.url.endsWith('.ts') ? '../../../dist/host/search/index-thread.js' : './index-thread.js';

const RETRY_MS = 10_000;
const MAX_RETRY_MS = 600_000;
const STOP_GRACE_MS = 250;

export class WarmIndex {
  readonly #options: IndexOptions;
  #worker: Worker | undefined;
  #isReady = false;
  readonly #load = new LoadProgress();
  readonly #readers = new Int32Array(new SharedArrayBuffer(4));
  #waiting: Waiting | undefined;
  #notBefore = 0;
  /** Longer after each failure: what made one fail often stays. */
  #retryMs = RETRY_MS;

  constructor(options: IndexOptions) {
    this.#options = options;
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /** Starts to build the index, unless it is there or just failed. */
  start(): void {
    if (this.#worker || performance.now() < this.#notBefore) return;
    const worker = new Worker(new URL(THREAD_FILE, import.meta.url), {
      workerData: { ...this.#options, readers: this.#readers } satisfies IndexData,
    });
    worker.unref();
    worker.on('message', (message: FromIndex) => {
      if (worker === this.#worker) this.#receive(message);
    });
    worker.on('error', () => {
      if (worker === this.#worker) this.#giveUp();
    });
    this.#worker = worker;
  }

  /** Undefined when reading the files is better. */
  async search(order: SearchOrder, signal: AbortSignal, progress: Progress): Promise<Findings | undefined> {
    if (this.#worker && !this.#isReady) await this.#load.endsSoon(signal);
    const worker = this.#worker;
    if (!worker || !this.#isReady || this.#waiting) return undefined;

    const { id } = order;
    const stop = new Int32Array(new SharedArrayBuffer(8));
    const abort = () => {
      Atomics.store(stop, 0, 1);
      progress.files = Atomics.load(stop, 1);
      setTimeout(() => this.#abandon(id), STOP_GRACE_MS).unref();
      this.#waiting?.reject(signal.reason as Error);
    };
    signal.addEventListener('abort', abort, { once: true });
    worker.ref();
    try {
      return await new Promise((resolve, reject) => {
        this.#waiting = { id, resolve, reject };
        worker.postMessage({ ...order, stop } satisfies IndexOrder);
      });
    } finally {
      worker.unref();
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

  #receive(message: FromIndex): void {
    if (message.kind === 'ready') {
      this.#isReady = true;
      this.#load.end();
    } else if (message.kind === 'loading') this.#load.note(message);
    else if (message.kind === 'given-up') this.#giveUp();
    else if (this.#waiting?.id === message.id) {
      const waiting = this.#waiting;
      this.#waiting = undefined;
      if (message.kind === 'answer') waiting.resolve(message.findings);
      else waiting.reject(new RegexError(message.pattern, message.reason));
    }
  }

  /** A search that does not end, as in the middle of a slow regex, costs the index. */
  #abandon(id: number): void {
    if (this.#waiting?.id === id) this.#giveUp();
  }

  #giveUp(): void {
    void this.#worker?.terminate();
    this.#worker = undefined;
    this.#isReady = false;
    this.#load.end();
    this.#notBefore = performance.now() + this.#retryMs;
    this.#retryMs = Math.min(2 * this.#retryMs, MAX_RETRY_MS);
    this.#waiting?.resolve(undefined);
    this.#waiting = undefined;
  }
}
