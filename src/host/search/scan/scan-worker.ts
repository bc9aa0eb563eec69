/**
 * Main-process handle of a search process, with the tasks it has not answered.
 *
 * It works for one search at a time, so that none waits behind the slow regex of another. It keeps the main process
 * alive only while it has a task.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import type { WalkPart } from '../../walk/walk-part.ts';
import type { FromScan, FromSearch, SearchOrder, ToScan, Workspace } from './scan-messages.ts';

export interface Task {
  readonly id: number;
  readonly parts: readonly WalkPart[];
  readonly maxWork: number;
}

/** A search, as the interface that its workers need. */
export interface ScanClient {
  readonly order: SearchOrder;
  /** Whether only a worker can do the waiting tasks. */
  readonly needsWorker: boolean;
  readonly hasTask: boolean;
  nextTask(): Task;
  /** Takes back a task of a worker that has ended; nothing of it was done. */
  giveBack(task: Task): void;
  receive(message: FromSearch): void;
  fail(error: Error): void;
}

export interface ScanEvents {
  onReady(): void;
  onMessage(message: FromSearch): void;
  /** The process ended by itself, which should never happen. */
  onDeath(error: Error): void;
}

/** Node 20 cannot run TypeScript sources; tests on sources use the program of the last build. */
const PROGRAM = import.meta.url.endsWith('.ts')
  ? '../../../../dist/host/search/scan/scan-process.js'
  : './scan-process.js';

/** Number of the view's descriptor in the process, after those of its streams and messages. */
const VIEW_FD = 4;

export class ScanWorker {
  readonly #process: ChildProcess;
  readonly #known = new Set<number>();
  #client: ScanClient | undefined;
  #tasks: Task[] = [];
  readonly #ending = new Map<number, NodeJS.Timeout>();
  #isReady = false;
  #isClosed = false;
  #busySince = 0;

  /** `isAhead`: started before there is a task. */
  constructor(workspace: Workspace, events: ScanEvents, { isAhead = false } = {}) {
    const { view } = workspace;
    this.#process = fork(fileURLToPath(new URL(PROGRAM, import.meta.url)), {
      cwd: '/',
      env: { ...process.env, NODE_OPTIONS: '' },
      execArgv: [],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc', ...(view ? [view.fd] : [])],
    });
    this.#process.on('message', (message: FromScan) => {
      // After the close its tasks belong to other workers.
      if (this.#isClosed) return;
      if (message.kind === 'ready') {
        this.#isReady = true;
        this.#release();
        events.onReady();
      } else {
        this.#note(message);
        events.onMessage(message);
      }
    });
    const die = (error: Error) => {
      if (!this.#isClosed) events.onDeath(error);
    };
    this.#process.on('error', die);
    this.#process.on('exit', () => die(new Error('a search process ended')));
    const there = view ? { ...workspace, view: { ...view, fd: VIEW_FD } } : workspace;
    this.#send({ kind: 'open', workspace: there, isAhead });
  }

  /** Until it is ready, searching elsewhere is faster than waiting. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Whether it would begin a task at once; false while it may be stuck in a search that has ended. */
  get isIdle(): boolean {
    return this.#isReady && this.#tasks.length === 0 && this.#ending.size === 0;
  }

  /** Number of unanswered tasks. */
  get load(): number {
    return this.#tasks.length;
  }

  /** The search it works on. */
  get client(): ScanClient | undefined {
    return this.#client;
  }

  /** Start time of its current task. */
  get busySince(): number {
    return this.#busySince;
  }

  /** `client` must be its current search, if it has one. */
  give(client: ScanClient): void {
    const { order } = client;
    if (!this.#known.has(order.id)) this.#send({ kind: 'begin', order });
    this.#known.add(order.id);
    const task = client.nextTask();
    if (this.#tasks.push(task) === 1) this.#busySince = performance.now();
    this.#client = client;
    this.#hold();
    this.#send({ kind: 'task', searchId: order.id, taskId: task.id, parts: task.parts, maxWork: task.maxWork });
  }

  /** Ends a search here; calls `onStuck` when the process does not confirm it within `graceMs`. */
  end(searchId: number, graceMs: number, onStuck: () => void): void {
    if (!this.#known.delete(searchId)) return;
    if (this.#client?.order.id === searchId) this.#rest();
    this.#ending.set(searchId, setTimeout(onStuck, graceMs).unref());
    this.#send({ kind: 'end', searchId });
  }

  /** Kills the process, and returns its unfinished tasks to their searches. */
  close(): void {
    this.#isClosed = true;
    for (const timer of this.#ending.values()) clearTimeout(timer);
    this.#process.kill('SIGKILL');
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
    this.#release();
  }

  #hold(): void {
    this.#process.ref();
    this.#process.channel?.ref();
  }

  #release(): void {
    this.#process.unref();
    this.#process.channel?.unref();
  }

  #send(message: ToScan): void {
    // A process that did not start or has ended cannot be reached; its events report that.
    if (this.#process.connected) this.#process.send(message, () => {});
  }
}
