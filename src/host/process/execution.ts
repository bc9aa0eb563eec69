/**
 * Runs a process to its end for a waiting caller: feeds its input, keeps its output up to a cap, enforces its timeout.
 *
 * Jobs of this host and commands of guests share it, so their results are alike.
 */
import { KeptOutput } from './kept-output.ts';
import type { OutputRing } from './output-ring.ts';
import type { OutputPiece, OutputStream, Process, ProcessEnd } from './process.ts';

/** Longest delay of a Node timer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export interface ExecutionLimits {
  /** How much of each stream is kept. The rest is read and dropped, so that the process never blocks. */
  readonly maxOutputBytes: number;
  /** Also gets the output, for readers while the process runs. */
  readonly ring?: OutputRing | undefined;
  /**
   * Takes each piece before the next is read: a slow one blocks the process like a full pipe, until `kill` or
   * `release`.
   */
  readonly onPiece?: ((piece: OutputPiece) => Promise<void>) | undefined;
  /** Input of the process; empty when absent. */
  readonly stdin?: Uint8Array | undefined;
  /** Leaves the input open after `stdin`, for more. */
  readonly keepsInput?: boolean | undefined;
  /** Kills the process after this time; no limit when absent. */
  readonly timeoutMs?: number | undefined;
  /** Kills the process when the caller goes away. */
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
  /** Resolves when the process has ended and its output is in. */
  readonly done: Promise<ExecutionResult>;
  readonly #kept: Record<OutputStream, KeptOutput>;
  #isLate = false;
  #lift = () => {};
  #isPassingOn = true;
  #skip = () => {};

  constructor(process: Running, limits: ExecutionLimits) {
    const { maxOutputBytes, stdin, keepsInput } = limits;
    this.process = process;
    this.#kept = { stdout: new KeptOutput(maxOutputBytes), stderr: new KeptOutput(maxOutputBytes) };
    const fed = stdin && process.input?.write(stdin);
    if (fed && keepsInput !== true) void fed.then(() => process.input?.end());
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

  /** Kills the process and its descendants; resolves when none of them lives. */
  async kill(): Promise<void> {
    this.#stopPassingOn();
    await this.process.signal('SIGKILL');
  }

  /** Lifts the timeout and the caller's signal, and ends `onPiece`: from now on only `kill` ends it. */
  release(): void {
    this.#lift();
    this.#stopPassingOn();
  }

  async #run({ timeoutMs, signal, ...readers }: ExecutionLimits): Promise<ExecutionResult> {
    const kill = () => void this.kill();
    const expire = () => {
      this.#isLate = true;
      kill();
    };
    const timer = timeoutMs === undefined ? undefined : setTimeout(expire, Math.min(timeoutMs, MAX_TIMER_MS));
    signal?.addEventListener('abort', kill, { once: true });
    this.#lift = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', kill);
    };
    if (signal?.aborted) kill();
    try {
      const [end] = await Promise.all([this.process.done, this.#collect(readers)]);
      for (const stream of ['stdout', 'stderr'] as const) {
        if (end.printed) this.#kept[stream].replace(end.printed[stream]);
      }
      return this.#result(end);
    } finally {
      this.#lift();
    }
  }

  async #collect({ ring, onPiece }: Pick<ExecutionLimits, 'ring' | 'onPiece'>): Promise<void> {
    for await (const piece of this.process.output) {
      this.#kept[piece.stream].add(piece.bytes);
      ring?.add(piece.stream, piece.bytes);
      if (onPiece && this.#isPassingOn) await this.#passOn(onPiece(piece));
    }
    for (const kept of Object.values(this.#kept)) kept.trim();
    ring?.finish();
  }

  #passOn(taken: Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#skip = resolve;
      taken.then(resolve, reject);
    });
  }

  #stopPassingOn(): void {
    this.#isPassingOn = false;
    this.#skip();
  }

  /** A process that ended by itself just as its time passed did not time out. */
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
