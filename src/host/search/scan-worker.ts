/**
 * A scan thread seen from the main thread: what it was given and has not answered.
 *
 * It does not keep the process alive while it has nothing to do.
 */
import { Worker } from 'node:worker_threads';

import { packRuns, type Run } from './batch.ts';
import type { Query } from './query.ts';
import type { FromSearch, FromThread, ToThread, Workspace } from './thread-messages.ts';

export interface Batch {
  readonly id: number;
  readonly runs: readonly Run[];
  /** Whether the main thread tried and found a file in it that takes too long. */
  isForThreads?: boolean;
}

/** A search as threads see it. */
export interface ScanClient {
  readonly id: number;
  readonly query: Query;
  /** Non-zero when it is over. */
  readonly stop: Int32Array;
  /** Batches that no thread has yet. */
  readonly waiting: Batch[];
  receive(message: FromSearch): void;
  fail(error: Error): void;
}

export interface ScanEvents {
  onReady(): void;
  onMessage(message: FromSearch): void;
  /** It ended by itself, which it never should. */
  onDeath(error: Error): void;
}

/** Sources cannot be run by a thread of Node 20; tests on them use the thread of the last build. */
const THREAD_FILE = import.meta.url.endsWith('.ts') ? '../../../dist/host/search/scan-thread.js' : './scan-thread.js';

export class ScanWorker {
  readonly #worker: Worker;
  readonly #known = new Set<number>();
  readonly #pending = new Map<number, { client: ScanClient; batch: Batch }[]>();
  readonly #ending = new Map<number, NodeJS.Timeout>();
  #isReady = false;
  #isClosed = false;

  constructor(workspace: Workspace, events: ScanEvents) {
    this.#worker = new Worker(new URL(THREAD_FILE, import.meta.url), { workerData: workspace });
    this.#worker.on('message', (message: FromThread) => {
      if (message.kind === 'ready') {
        this.#isReady = true;
        this.#worker.unref();
        events.onReady();
      } else {
        this.#note(message);
        events.onMessage(message);
      }
    });
    this.#worker.on('error', (error: Error) => events.onDeath(error));
    this.#worker.on('exit', () => {
      if (!this.#isClosed) events.onDeath(new Error('a search thread ended'));
    });
  }

  /** Until then it is better to search elsewhere than to wait. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Batches it was given and has not answered. */
  get load(): number {
    let sum = 0;
    for (const batches of this.#pending.values()) sum += batches.length;
    return sum;
  }

  give(client: ScanClient, batch: Batch): void {
    const { id: searchId, query, stop } = client;
    if (!this.#known.has(searchId)) this.#tell({ kind: 'begin', searchId, query, stop });
    this.#known.add(searchId);
    this.#pending.set(searchId, [...(this.#pending.get(searchId) ?? []), { client, batch }]);
    this.#worker.ref();
    this.#tell({ kind: 'batch', searchId, batchId: batch.id, packedRuns: packRuns(batch.runs) });
  }

  /** Ends a search here; `onStuck` when the thread does not say within `graceMs` that it did. */
  end(searchId: number, graceMs: number, onStuck: () => void): void {
    if (!this.#known.delete(searchId)) return;
    this.#pending.delete(searchId);
    this.#ending.set(searchId, setTimeout(onStuck, graceMs).unref());
    this.#tell({ kind: 'end', searchId });
  }

  /** Ends the thread; answers what it leaves undone. */
  close(): { client: ScanClient; batch: Batch }[] {
    this.#isClosed = true;
    for (const timer of this.#ending.values()) clearTimeout(timer);
    void this.#worker.terminate();
    return [...this.#pending.values()].flat();
  }

  #note(message: FromSearch): void {
    const { searchId } = message;
    if (message.kind === 'ended') {
      clearTimeout(this.#ending.get(searchId));
      this.#ending.delete(searchId);
    } else if (message.kind === 'result') {
      const left = (this.#pending.get(searchId) ?? []).filter(({ batch }) => batch.id !== message.batchId);
      if (left.length > 0) this.#pending.set(searchId, left);
      else this.#pending.delete(searchId);
    }
    if (this.#pending.size === 0) this.#worker.unref();
  }

  #tell(message: ToThread): void {
    this.#worker.postMessage(message);
  }
}
