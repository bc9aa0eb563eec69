/**
 * The scan threads of one workspace: started when there is work for them, kept for the next search, ended on close.
 *
 * Each thread holds a few batches ahead, because the main thread may be busy walking when one is done. A thread
 * that does not notice in time that a search is over, as in the middle of a slow regex, is replaced.
 */
import { availableParallelism } from 'node:os';

import { ScanWorker, type ScanClient } from './scan-worker.ts';
import type { FromSearch, Workspace } from './thread-messages.ts';

const MAX_THREADS = 8;
const BATCHES_AHEAD = 6;
const STOP_GRACE_MS = 250;
const CLOSED = 'the search engine was closed';

export class ThreadPool {
  readonly #workspace: Workspace;
  readonly #size = Math.min(availableParallelism(), MAX_THREADS);
  readonly #workers = new Set<ScanWorker>();
  /** In the order of their turns. */
  readonly #clients = new Map<number, ScanClient>();
  #isClosed = false;

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
  }

  enter(client: ScanClient): void {
    if (this.#isClosed) throw new Error(CLOSED);
    this.#clients.set(client.id, client);
  }

  /** Gives out batches that wait, in turns, so that a large search does not keep a small one waiting. */
  dispatch(): void {
    for (let client = this.#nextClient(); client; client = this.#nextClient()) {
      const worker = this.#idlest();
      if (!worker) return;
      this.#clients.delete(client.id);
      this.#clients.set(client.id, client);
      worker.give(client, client.waiting.shift()!);
    }
  }

  /** The search is over, whether its batches are done or not. */
  leave(client: ScanClient): void {
    this.#clients.delete(client.id);
    Atomics.store(client.stop, 0, 1);
    for (const worker of this.#workers) worker.end(client.id, STOP_GRACE_MS, () => this.#replace(worker));
  }

  close(): void {
    this.#isClosed = true;
    const workers = [...this.#workers];
    this.#workers.clear();
    for (const worker of workers) worker.close();
    for (const client of this.#clients.values()) client.fail(new Error(CLOSED));
  }

  #nextClient(): ScanClient | undefined {
    for (const client of this.#clients.values()) if (client.waiting.length > 0) return client;
    return undefined;
  }

  /** The thread to give a batch to; when none is idle, another is started for later. */
  #idlest(): ScanWorker | undefined {
    let idlest: ScanWorker | undefined;
    for (const worker of this.#workers) {
      if (worker.isReady && (!idlest || worker.load < idlest.load)) idlest = worker;
    }
    if (idlest?.load !== 0 && this.#workers.size < this.#size) this.#start();
    return idlest && idlest.load < BATCHES_AHEAD ? idlest : undefined;
  }

  #start(): void {
    const worker = new ScanWorker(this.#workspace, {
      onReady: () => this.dispatch(),
      onMessage: (message) => this.#receive(message),
      onDeath: (error) => {
        this.#workers.delete(worker);
        for (const { client } of worker.close()) client.fail(error);
      },
    });
    this.#workers.add(worker);
  }

  #receive(message: FromSearch): void {
    this.dispatch();
    this.#clients.get(message.searchId)?.receive(message);
  }

  #replace(worker: ScanWorker): void {
    this.#workers.delete(worker);
    for (const { client, batch } of worker.close()) client.waiting.unshift(batch);
    this.dispatch();
  }
}
