/**
 * A process run to its end for somebody who waits: its input is given, its output kept up to a cap, its time limited.
 *
 * It is the same for jobs of this host and commands of guests, so their results are.
 */
import { KeptOutput } from './kept-output.ts';
import type { OutputStream, Process, ProcessEnd } from './process.ts';

/** The longest time that a timer takes. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export interface ExecutionLimits {
  /** How much of each stream is kept. The rest is read and dropped, so that the process is never held up. */
  readonly maxOutputBytes: number;
  /** What the process reads; nothing when absent. */
  readonly stdin?: Uint8Array | undefined;
  /** Then it is killed; unbounded when absent. */
  readonly timeoutMs?: number | undefined;
  /** Kills it when whoever waits leaves. */
  readonly signal?: AbortSignal | undefined;
}

/** The first bytes of each stream, and whether there were more. */
export interface OutputSoFar {
  stdout: Buffer;
  stderr: Buffer;
  stdoutTruncated: boolean;
  stderrTruncated: boolean;
}

export interface ExecutionResult extends OutputSoFar {
  /** Null when a signal ended it. */
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  timedOut: boolean;
  durationMs: number;
}

export class Execution<Running extends Process = Process> {
  readonly process: Running;
  /** Settles when the process has ended and its output is in. */
  readonly done: Promise<ExecutionResult>;
  /** Called for each piece of output. */
  onOutput: () => void = () => {};
  readonly #kept: Record<OutputStream, KeptOutput>;
  #isLate = false;

  constructor(process: Running, limits: ExecutionLimits) {
    const { maxOutputBytes, stdin } = limits;
    this.process = process;
    this.#kept = { stdout: new KeptOutput(maxOutputBytes), stderr: new KeptOutput(maxOutputBytes) };
    if (stdin) void process.input?.write(stdin).then(() => process.input?.end());
    this.done = this.#run(limits);
  }

  outputSoFar(): OutputSoFar {
    const { stdout, stderr } = this.#kept;
    return {
      stdout: stdout.bytes,
      stderr: stderr.bytes,
      stdoutTruncated: stdout.isTruncated,
      stderrTruncated: stderr.isTruncated,
    };
  }

  /** Ends it with all that came from it; resolves when nothing of it lives. */
  async kill(): Promise<void> {
    await this.process.signal('SIGKILL');
  }

  async #run({ timeoutMs, signal }: ExecutionLimits): Promise<ExecutionResult> {
    const kill = () => void this.kill();
    const expire = () => {
      this.#isLate = true;
      kill();
    };
    const timer = timeoutMs === undefined ? undefined : setTimeout(expire, Math.min(timeoutMs, MAX_TIMER_MS));
    signal?.addEventListener('abort', kill, { once: true });
    if (signal?.aborted) kill();
    try {
      const [end] = await Promise.all([this.process.done, this.#collect()]);
      return this.#result(end);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', kill);
    }
  }

  async #collect(): Promise<void> {
    for await (const { stream, bytes } of this.process.output) {
      this.#kept[stream].add(bytes);
      this.onOutput();
    }
    for (const kept of Object.values(this.#kept)) kept.trim();
  }

  /** One that ended by itself in the moment its time was up did not run out of it. */
  #result({ exitCode, signal, durationMs, timedOut, dropped }: ProcessEnd): ExecutionResult {
    const { stdoutTruncated, stderrTruncated, ...output } = this.outputSoFar();
    return {
      exitCode,
      signal,
      durationMs,
      timedOut: timedOut ?? (this.#isLate && exitCode === null),
      ...output,
      stdoutTruncated: stdoutTruncated || dropped?.stdout === true,
      stderrTruncated: stderrTruncated || dropped?.stderr === true,
    };
  }
}
