/**
 * One running job: emits its output, kills all of it, and reports how it ended.
 *
 * A job ends when its first process exits. Its pipes prove nothing: a grandchild may hold them for hours, and a process
 * that closed them may live on.
 */
import type { Writable } from 'node:stream';
import { setTimeout as passed } from 'node:timers/promises';

import type { Log } from '#contract';
import { OutputQueue } from '../process/output-queue.ts';
import type { OutputStream, Process, ProcessEnd, ProcessInput } from '../process/process.ts';
import { JobOutput } from './job-output.ts';
import type { ContainedProcess, JobGroup } from './containments/containment.ts';
import { sendSignal } from './send-signal.ts';
import type { ConnectedTerminal } from '../terminal/terminal.ts';

/** How long descendants may still write after the first process exited, and how long the last bytes may take. */
const DRAIN_MS = 75;
/** Interval of checks whether the reader of the output is behind. */
const FULL_MS = 20;

interface Exit {
  exitCode: number | null;
  signal: NodeJS.Signals | null;
}

interface JobOptions {
  terminal: ConnectedTerminal | undefined;
  wantedBytes: number;
  startedAt: number;
  log: Log;
}

export class Job implements Process {
  readonly pid: number;
  readonly input: ProcessInput | undefined;
  readonly resize: Process['resize'];
  readonly output = new OutputQueue();
  /** Resolves when the first process has ended, its output is in and no process of the job lives. Never rejects. */
  readonly done: Promise<ProcessEnd>;
  readonly #group: JobGroup;
  readonly #terminal: ConnectedTerminal | undefined;
  readonly #log: Log;
  readonly #startedAt: number;
  readonly #outputs: readonly JobOutput[];
  readonly #exited: Promise<Exit>;
  readonly #closed: Promise<unknown>;
  #reportExit!: (exit: Exit) => void;
  #hasExited = false;
  #hadRoom = false;
  #isAbandoned = false;
  #killing: Promise<void> | undefined;
  #isOver = false;

  constructor({ process, group }: ContainedProcess, { terminal, wantedBytes, startedAt, log }: JobOptions) {
    this.#startedAt = startedAt;
    this.pid = process.pid!;
    this.#group = group;
    this.#terminal = terminal;
    this.#log = log;
    const queue = this.output;
    const read = (stream: OutputStream, from = process[stream]!) => new JobOutput(from, { stream, wantedBytes, queue });
    this.#outputs = terminal ? [read('stdout', terminal.output)] : [read('stdout'), read('stderr')];
    queue.onRoom = () => {
      this.#hadRoom = true;
      for (const output of this.#outputs) output.resume();
    };
    this.#closed = Promise.all(this.#outputs.map(({ closed }) => closed));
    this.#exited = new Promise((resolve) => (this.#reportExit = resolve));
    process.once('exit', (exitCode, signal) => {
      this.#hasExited = true;
      this.#reportExit({ exitCode, signal });
    });
    this.input = terminal?.input ?? (process.stdin ? inputOf(process.stdin) : undefined);
    this.resize = terminal && ((size) => terminal.resize(size));
    this.done = this.#run();
  }

  /** Also stops waiting for the reader of the output. */
  async signal(): Promise<void> {
    this.#isAbandoned = true;
    await this.#kill();
  }

  async #kill(): Promise<void> {
    if (this.#isOver) return;
    this.#killing ??= this.#killAll();
    await this.#killing;
  }

  async sendSignal(name: NodeJS.Signals): Promise<void> {
    if (this.#hasExited || this.#killing) return;
    if (this.#terminal?.sendSignal) await this.#terminal.sendSignal(name);
    else if (this.#group.sendSignal) await this.#group.sendSignal(name);
    else sendSignal(-this.pid, name);
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
    this.#isOver = this.#killing === undefined && this.#group.releaseIfEmpty();
    if (!this.#isOver) {
      if (this.#killing === undefined) await settledWithin(this.#closed, DRAIN_MS);
      await this.#kill();
      this.#isOver = true;
      this.#group.release();
    }
    await this.#drained();
    for (const output of this.#outputs) output.close();
  }

  /** The deadline is for pipes that another process holds open. While the reader of the output is behind, it does not count. */
  async #drained(): Promise<void> {
    do {
      while (this.output.isFull && !this.#isAbandoned) await passed(FULL_MS);
      this.#hadRoom = false;
      await settledWithin(this.#closed, DRAIN_MS);
    } while ((this.#hadRoom || this.output.isFull) && !this.#isAbandoned);
  }

  async #killAll(): Promise<void> {
    // The first process is a session leader, so it cannot change its group, not even after leaving the containment.
    if (!this.#hasExited) sendSignal(-this.pid, 'SIGKILL');
    if (await this.#group.kill()) return;
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
    get isClosed() {
      return stdin.destroyed;
    },
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
