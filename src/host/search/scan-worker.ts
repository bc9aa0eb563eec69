/**
 * A scan thread seen from the main thread: what it was given and has not answered.
 *
 * It works for one search at a time, so that none waits behind the slow regex of another. It does not keep the
 * process alive while it has nothing to do.
 */
import { Worker } from 'node:worker_threads';

import type { WalkPart } from '../walk-part.ts';
import type { FromSearch, FromThread, SearchOrder, ToThread, Workspace } from './thread-messages.ts';

export interface Task {
  readonly id: number;
  readonly parts: readonly WalkPart[];
  readonly maxWork: number;
}

/** A search as threads see it. */
export interface ScanClient {
  readonly order: SearchOrder;
  /** Whether nobody but a thread can do what waits. */
  readonly needsThread: boolean;
  readonly hasTask: boolean;
  /** Whether there is so much to do that threads may have several tasks ahead. */
  readonly hasManyTasks: boolean;
  nextTask(): Task;
  /** The thread is gone, and nothing of the task was done. */
  giveBack(task: Task): void;
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
  #client: ScanClient | undefined;
  #tasks: Task[] = [];
  readonly #ending = new Map<number, NodeJS.Timeout>();
  #isReady = false;
  #isClosed = false;
  #busySince = 0;

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

  /** It would begin at once with what it is given; not so while it may be stuck in a search that is over. */
  get isIdle(): boolean {
    return this.#isReady && this.#tasks.length === 0 && this.#ending.size === 0;
  }

  /** Tasks it was given and has not answered. */
  get load(): number {
    return this.#tasks.length;
  }

  /** Whom it works for. */
  get client(): ScanClient | undefined {
    return this.#client;
  }

  /** When it began with its present task. */
  get busySince(): number {
    return this.#busySince;
  }

  /** `client` must be the one it works for, if there is one. */
  give(client: ScanClient): void {
    const { order } = client;
    if (!this.#known.has(order.id)) this.#tell({ kind: 'begin', order });
    this.#known.add(order.id);
    const task = client.nextTask();
    if (this.#tasks.push(task) === 1) this.#busySince = performance.now();
    this.#client = client;
    this.#worker.ref();
    this.#tell({ kind: 'task', searchId: order.id, taskId: task.id, parts: task.parts, maxWork: task.maxWork });
  }

  /** Ends a search here; `onStuck` when the thread does not say within `graceMs` that it did. */
  end(searchId: number, graceMs: number, onStuck: () => void): void {
    if (!this.#known.delete(searchId)) return;
    if (this.#client?.order.id === searchId) this.#rest();
    this.#ending.set(searchId, setTimeout(onStuck, graceMs).unref());
    this.#tell({ kind: 'end', searchId });
  }

  /** Ends the thread, and gives back what it leaves undone. */
  close(): void {
    this.#isClosed = true;
    for (const timer of this.#ending.values()) clearTimeout(timer);
    void this.#worker.terminate();
    for (const task of this.#tasks) this.#client!.giveBack(task);
    this.#rest();
  }

  #note(message: FromSearch): void {
    const { searchId } = message;
    if (message.kind === 'ended') {
      clearTimeout(this.#ending.get(searchId));
      this.#ending.delete(searchId);
    } else if (message.kind === 'result' && this.#client?.order.id === searchId) {
      this.#tasks = this.#tasks.filter(({ id }) => id !== message.taskId);
      this.#busySince = performance.now();
      if (this.#tasks.length === 0) this.#rest();
    }
  }

  #rest(): void {
    this.#tasks = [];
    this.#client = undefined;
    this.#worker.unref();
  }

  #tell(message: ToThread): void {
    this.#worker.postMessage(message);
  }
}
