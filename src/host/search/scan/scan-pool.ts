/**
 * The search processes of one workspace: started on demand, kept for the next search, ended on close or when idle for
 * long.
 *
 * Each holds one task ahead, because the main process may be busy when a task is done, and no more, so that none waits
 * for a task that another holds. A process that does not report in time that it stopped a search, as in the middle of a
 * slow regex, is replaced. A search that has waited long for a process takes one from a search that uses all of them.
 */
import { availableParallelism } from 'node:os';

import { ScanWorker, type ScanClient, type ScanEvents } from './scan-worker.ts';
import type { FromSearch, Workspace } from './scan-messages.ts';

/** Also how many slow searches can run before one has to wait. */
const MAX_PROCESSES = 8;
const TASKS_AT_ONCE = 2;
const STOP_GRACE_MS = 1000;

/** Each takes the memory of a Node process, and as long to start as a thousand files to read. */
const IDLE_MS = 600_000;

/** Delay after a process could not be started. */
const RETRY_MS = 10_000;

/** How long a search waits before it takes a process from another: longer than any task that is not slow. */
const STARVED_MS = 100;
const CLOSED = 'the search engine was closed';

export class ScanPool {
  readonly #workspace: Workspace;
  /** Usual number of processes. */
  readonly size = Math.min(availableParallelism(), MAX_PROCESSES);
  readonly #idleMs: number;
  readonly #workers = new Set<ScanWorker>();
  /** Searches in round-robin order, each with the timer that runs while it has no worker. */
  readonly #clients = new Map<ScanClient, NodeJS.Timeout | undefined>();
  readonly #byId = new Map<number, ScanClient>();
  #idleTimer: NodeJS.Timeout | undefined;
  #notBefore = 0;
  #isClosed = false;

  constructor(workspace: Workspace, { idleMs = IDLE_MS }: { idleMs?: number | undefined } = {}) {
    this.#workspace = workspace;
    this.#idleMs = idleMs;
  }

  /** Starts the processes before there is work. */
  prepare(): void {
    if (this.#isClosed) return;
    while (this.#workers.size < this.size) this.#start({ isAhead: true });
    this.#closeWhenIdle();
  }

  enter(client: ScanClient): void {
    if (this.#isClosed) throw new Error(CLOSED);
    clearTimeout(this.#idleTimer);
    this.#clients.set(client, undefined);
    this.#byId.set(client.order.id, client);
  }

  /** Whether a process works on the search. */
  isServing(client: ScanClient): boolean {
    return this.#workersOf(client).length > 0;
  }

  /** Whether a process could begin at once. If not, starts one for later. */
  offersWorker(): boolean {
    if (this.#idle()) return true;
    this.#startAnother();
    return false;
  }

  /** Hands out waiting tasks in turns, so that a large search does not delay a small one. */
  dispatch(): void {
    for (let client = this.#nextClient(); client; client = this.#nextClient()) {
      const worker = this.#idle();
      if (!worker) break;
      this.#give(worker, client);
    }
    if (this.#nextClient()) this.#startAnother();
    this.#watchStarving();
    if ([...this.#clients.keys()].some((client) => client.hasTask && !this.isServing(client))) return;
    for (const worker of this.#workers) {
      while (worker.client?.hasTask && worker.load < TASKS_AT_ONCE) worker.give(worker.client);
      // There may be more than usual, because a search had waited too long.
      if (worker.isIdle && this.#workers.size > this.size) this.#close(worker);
    }
  }

  /** Ends a search, whether its tasks are done or not. */
  leave(client: ScanClient): void {
    clearTimeout(this.#clients.get(client));
    this.#clients.delete(client);
    this.#byId.delete(client.order.id);
    for (const worker of this.#workers) worker.end(client.order.id, STOP_GRACE_MS, () => this.#replace(worker));
    if (this.#clients.size === 0 && this.#workers.size > 0) this.#closeWhenIdle();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#idleTimer);
    this.#closeAll();
    for (const [client, timer] of this.#clients) {
      clearTimeout(timer);
      client.fail(new Error(CLOSED));
    }
  }

  #closeWhenIdle(): void {
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => this.#closeAll(), this.#idleMs).unref();
  }

  #nextClient(): ScanClient | undefined {
    for (const client of this.#clients.keys()) if (client.hasTask) return client;
    return undefined;
  }

  #idle(): ScanWorker | undefined {
    for (const worker of this.#workers) if (worker.isIdle) return worker;
    return undefined;
  }

  #give(worker: ScanWorker, client: ScanClient): void {
    clearTimeout(this.#clients.get(client));
    this.#clients.delete(client);
    this.#clients.set(client, undefined);
    worker.give(client);
  }

  #watchStarving(): void {
    for (const [client, timer] of this.#clients) {
      if (timer || !client.needsWorker || this.isServing(client)) continue;
      this.#clients.set(client, setTimeout(() => this.#relieve(client), STARVED_MS).unref());
    }
  }

  /** Takes the process that has been busy for longest from a search that has several; if none has, starts one more. */
  #relieve(client: ScanClient): void {
    this.#clients.set(client, undefined);
    const isStarting = [...this.#workers].some(({ isReady }) => !isReady);
    const rich = [...this.#workers]
      .filter(({ client: owner }) => owner && this.#workersOf(owner).length > 1)
      .sort((a, b) => a.busySince - b.busySince);
    if (isStarting || this.isServing(client)) this.dispatch();
    else if (rich[0]) this.#drop(rich[0]);
    else if (this.#workers.size < MAX_PROCESSES) this.#start();
    this.#watchStarving();
  }

  #workersOf(client: ScanClient): ScanWorker[] {
    return [...this.#workers].filter((worker) => worker.client === client);
  }

  #startAnother(): void {
    const isNeeded = [...this.#clients.keys()].some((client) => client.needsWorker);
    if (this.#workers.size < this.size && (isNeeded || performance.now() >= this.#notBefore)) this.#start();
  }

  #start({ isAhead = false } = {}): void {
    const events: ScanEvents = {
      onReady: () => this.dispatch(),
      onMessage: (message) => this.#receive(message),
      onDeath: (error) => {
        const { client, isReady } = worker;
        this.#close(worker);
        client?.fail(error);
        if (!isReady) this.#noteFailedStart(error);
      },
    };
    const worker = new ScanWorker(this.#workspace, events, { isAhead });
    this.#workers.add(worker);
  }

  /**
   * Fails a search that needs a process, because it would wait for ever; for the others only the next start is delayed.
   */
  #noteFailedStart(error: Error): void {
    this.#notBefore = performance.now() + RETRY_MS;
    for (const client of this.#clients.keys()) if (client.needsWorker && !this.isServing(client)) client.fail(error);
  }

  #receive(message: FromSearch): void {
    this.#byId.get(message.searchId)?.receive(message);
    this.dispatch();
  }

  /** Starts a replacement now, so that the next search does not wait for it. */
  #replace(worker: ScanWorker): void {
    this.#drop(worker);
    if (this.#workers.size < this.size) this.#start({ isAhead: true });
  }

  #drop(worker: ScanWorker): void {
    this.#close(worker);
    this.dispatch();
  }

  #closeAll(): void {
    for (const worker of this.#workers) this.#close(worker);
  }

  #close(worker: ScanWorker): void {
    this.#workers.delete(worker);
    worker.close();
  }
}
