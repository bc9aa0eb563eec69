/**
 * One running job: emits its output, kills all of it, and reports how it ended.
 *
 * A job ends when its first process exits. Its pipes prove nothing: a grandchild may hold them for hours, and a process
 * that closed them may live on.
 */
import type { Writable } from 'node:stream';

import type { Log } from '#contract';
import { OutputQueue } from '../process/output-queue.ts';
import type { OutputStream, Process, ProcessEnd, ProcessInput } from '../process/process.ts';
import { JobOutput } from './job-output.ts';
import type { Held, Hold } from './rung.ts';
import { sendKill } from './send-kill.ts';

/** How long the descendants may go on writing after the first process exited, and how long the last bytes may take. */
const DRAIN_MS = 75;

interface Exit {
  exitCode: number | null;
  signal: NodeJS.Signals | null;
}

export class Job implements Process {
  readonly pid: number;
  readonly input: ProcessInput | undefined;
  readonly output = new OutputQueue();
  /** Resolves when the first process has ended, its output is in and no process of the job lives. Never rejects. */
  readonly done: Promise<ProcessEnd>;
  readonly #hold: Hold;
  readonly #log: Log;
  readonly #startedAt: number;
  readonly #outputs: readonly JobOutput[];
  readonly #exited: Promise<Exit>;
  readonly #closed: Promise<unknown>;
  #reportExit!: (exit: Exit) => void;
  #hasExited = false;
  #killing: Promise<void> | undefined;
  #isOver = false;

  constructor(
    { process, hold }: Held,
    { wantedBytes, startedAt, log }: { wantedBytes: number; startedAt: number; log: Log },
  ) {
    this.#startedAt = startedAt;
    this.pid = process.pid!;
    this.#hold = hold;
    this.#log = log;
    const queue = this.output;
    const read = (stream: OutputStream) => new JobOutput(process[stream]!, { stream, wantedBytes, queue });
    this.#outputs = [read('stdout'), read('stderr')];
    queue.onRoom = () => this.#outputs.forEach((output) => output.resume());
    this.#closed = Promise.all(this.#outputs.map(({ closed }) => closed));
    this.#exited = new Promise((resolve) => (this.#reportExit = resolve));
    process.once('exit', (exitCode, signal) => {
      this.#hasExited = true;
      this.#reportExit({ exitCode, signal });
    });
    this.input = process.stdin ? inputOf(process.stdin) : undefined;
    this.done = this.#run();
  }

  async signal(): Promise<void> {
    if (this.#isOver) return;
    this.#killing ??= this.#killAll();
    await this.#killing;
  }

  async #run(): Promise<ProcessEnd> {
    const exit = await this.#exited;
    const durationMs = performance.now() - this.#startedAt;
    await this.#end();
    this.output.end();
    return { ...exit, durationMs };
  }

  /** Kills the rest of the job and reads the rest of the pipes. */
  async #end(): Promise<void> {
    this.#isOver = this.#killing === undefined && this.#hold.releaseIfEmpty();
    if (!this.#isOver) {
      if (this.#killing === undefined) await settledWithin(this.#closed, DRAIN_MS);
      await this.signal();
      this.#isOver = true;
      this.#hold.release();
    }
    await settledWithin(this.#closed, DRAIN_MS);
    for (const output of this.#outputs) output.close();
  }

  async #killAll(): Promise<void> {
    // The first process is a session leader, so it cannot change its group, not even after leaving the containment.
    if (!this.#hasExited) sendKill(-this.pid);
    if (await this.#hold.kill()) return;
    this.#log.error('a job did not end after SIGKILL', { pid: this.pid });
    this.#reportExit({ exitCode: null, signal: 'SIGKILL' });
  }
}

/** EPIPE is not an error: a child need not read to the end. */
function inputOf(stdin: Writable): ProcessInput {
  stdin.on('error', () => {});
  return {
    write: (bytes) => new Promise((resolve) => stdin.write(bytes, () => resolve())),
    end: () => void stdin.end(),
  };
}

/** After the deadline the streams get one more turn: a server that was blocked may have all of it waiting. */
function settledWithin(promise: Promise<unknown>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => setImmediate(resolve), ms);
    void promise.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
