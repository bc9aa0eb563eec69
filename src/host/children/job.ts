/**
 * One running job: collects its output, ends it in time, and says how it went.
 *
 * The end is the exit of the first process. Its pipes say nothing: a grandchild may hold them for hours, and one
 * that closed them may live on.
 */
import type { Log } from '#contract';
import type { ChildResult, ChildSpec, OutputSoFar, RunningChild } from './child.ts';
import { JobOutput } from './job-output.ts';
import type { Held, Hold } from './rung.ts';
import { sendKill } from './send-kill.ts';

/** How long what the first process left behind may go on writing, and how long the last bytes may take. */
const DRAIN_MS = 75;
/** The longest time that a timer takes. */
const MAX_TIMER_MS = 2 ** 31 - 1;

interface Exit {
  exitCode: number | null;
  signal: NodeJS.Signals | null;
}

export class Job implements RunningChild {
  readonly pid: number;
  readonly done: Promise<ChildResult>;
  readonly #hold: Hold;
  readonly #log: Log;
  readonly #startedAt: number;
  readonly #stdout: JobOutput;
  readonly #stderr: JobOutput;
  readonly #exited: Promise<Exit>;
  readonly #closed: Promise<unknown>;
  #reportExit!: (exit: Exit) => void;
  #hasExited = false;
  #killing: Promise<void> | undefined;
  #isOver = false;

  constructor({ process, hold }: Held, spec: ChildSpec, { startedAt, log }: { startedAt: number; log: Log }) {
    this.#startedAt = startedAt;
    this.pid = process.pid!;
    this.#hold = hold;
    this.#log = log;
    this.#stdout = new JobOutput(process.stdout!, spec.maxOutputBytes);
    this.#stderr = new JobOutput(process.stderr!, spec.maxOutputBytes);
    this.#closed = Promise.all([this.#stdout.closed, this.#stderr.closed]);
    this.#exited = new Promise((resolve) => (this.#reportExit = resolve));
    process.once('exit', (exitCode, signal) => {
      this.#hasExited = true;
      this.#reportExit({ exitCode, signal });
    });
    // A child need not read to the end.
    process.stdin?.on('error', () => {}).end(spec.stdin);
    this.done = this.#run(spec.timeoutMs);
  }

  outputSoFar(): OutputSoFar {
    return {
      stdout: this.#stdout.kept.bytes,
      stderr: this.#stderr.kept.bytes,
      stdoutTruncated: this.#stdout.kept.isTruncated,
      stderrTruncated: this.#stderr.kept.isTruncated,
    };
  }

  async kill(): Promise<void> {
    if (this.#isOver) return;
    this.#killing ??= this.#killAll();
    await this.#killing;
  }

  async #run(timeoutMs: number | undefined): Promise<ChildResult> {
    let isLate = false;
    const expire = () => {
      isLate = true;
      void this.kill();
    };
    const timer = timeoutMs === undefined ? undefined : setTimeout(expire, Math.min(timeoutMs, MAX_TIMER_MS));
    const { exitCode, signal } = await this.#exited;
    clearTimeout(timer);
    const durationMs = performance.now() - this.#startedAt;

    await this.#end();
    // It may have ended by itself in the moment its time was up.
    const timedOut = isLate && exitCode === null;
    return { exitCode, signal, timedOut, durationMs, ...this.outputSoFar() };
  }

  /** What is left of the job ends, and what is left in the pipes is read. */
  async #end(): Promise<void> {
    this.#isOver = this.#killing === undefined && this.#hold.releaseIfEmpty();
    if (!this.#isOver) {
      if (this.#killing === undefined) await settledWithin(this.#closed, DRAIN_MS);
      await this.kill();
      this.#isOver = true;
      this.#hold.release();
    }
    await settledWithin(this.#closed, DRAIN_MS);
    for (const output of [this.#stdout, this.#stderr]) output.close();
  }

  async #killAll(): Promise<void> {
    // The first process leads a session, so it cannot change its group, not even when it has left what holds the job.
    if (!this.#hasExited) sendKill(-this.pid);
    if (await this.#hold.kill()) return;
    this.#log.error('a job did not end after SIGKILL', { pid: this.pid });
    this.#reportExit({ exitCode: null, signal: 'SIGKILL' });
  }
}

/** After the deadline the streams get one more turn: a server that was held up may have it all waiting. */
function settledWithin(promise: Promise<unknown>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => setImmediate(resolve), ms);
    void promise.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
