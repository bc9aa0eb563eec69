/** One background job: its work while it runs, and its record afterwards. */
import { randomUUID } from 'node:crypto';

import { callerRef, Failure } from '#contract';
import type { Caller } from '#protocol';
import type { Execution, ExecutionResult, OutputRing, OutputSoFar, Process } from '#host';
import { JobFault } from './job-fault.ts';
import { JobInput } from './job-input.ts';
import type { JobRecord, JobStatus, JobSummary } from './job-record.ts';
import type { SignalName } from './signals.ts';
import type { TerminalSize } from './terminal-size.ts';

/** Cost of a record beside its argv and its output. */
const RECORD_BYTES = 1024;

/** By where a job runs: why it may still live after a kill. */
const SURVIVALS = {
  host: 'its processes have not ended: the kernel ends them when the device that they wait for answers, such as a disk; shell::status reports when',
  sandbox: 'sandbox::exec cannot be cancelled: the process runs in its sandbox until its timeout_ms is over',
  guest: 'the sandbox has not confirmed its end; what is left of it ends with sandbox::stop',
};
export type JobTarget = keyof typeof SURVIVALS;

/** The work of a job. */
export type JobWork = Pick<Execution, 'outputSoFar' | 'done' | 'kill'> & {
  readonly process: Pick<Process, 'input' | 'resize' | 'sendSignal'>;
};

export interface JobRequest {
  readonly argv: readonly string[];
  readonly runsOn: JobTarget;
  /** The id of its sandbox, for jobs that end with one. */
  readonly group?: string | undefined;
  /** Whether callers may write to it. */
  readonly hasInput: boolean;
  /** The size of its terminal; absent without one. */
  readonly terminal?: TerminalSize | undefined;
  readonly caller?: Caller | undefined;
  /** Label that lists show instead of its words. */
  readonly label?: string | undefined;
  /** Now when absent. */
  readonly startedAtMs?: number;
  /** A random UUID when absent. */
  readonly uuid?: string;
}

const NO_OUTPUT: OutputSoFar = {
  stdout: Buffer.alloc(0),
  stderr: Buffer.alloc(0),
  stdoutTruncated: false,
  stderrTruncated: false,
};

export class BackgroundJob {
  readonly id: string;
  readonly argv: readonly string[];
  readonly group: string | undefined;
  /** The last output of both streams. */
  readonly ring: OutputRing;
  /** Resolves once the work has ended and the record is final. */
  readonly settled: Promise<void>;
  readonly #caller: Caller | undefined;
  readonly #label: string | undefined;
  readonly #runsOn: JobTarget;
  readonly startedAtMs: number;
  readonly #input: JobInput | undefined;
  /** The running work; undefined once it has ended. */
  #work: JobWork | undefined;
  #terminal: TerminalSize | undefined;
  #output = NO_OUTPUT;
  #status: JobStatus = 'running';
  #finishedAtMs: number | null = null;
  #exitCode: number | null = null;
  readonly #sent = new Set<NodeJS.Signals | null>();

  /** Passes a bug in the work to `report`, because the call has already returned. */
  constructor(
    {
      argv,
      runsOn,
      group,
      hasInput,
      terminal,
      caller,
      label,
      startedAtMs = Date.now(),
      uuid = randomUUID(),
    }: JobRequest,
    { work, ring, report }: { work: JobWork; ring: OutputRing; report: (bug: Error) => void },
  ) {
    this.id = `job-${uuid}`;
    this.argv = argv;
    this.group = group;
    this.startedAtMs = startedAtMs;
    this.ring = ring;
    this.#caller = caller;
    this.#label = label;
    this.#runsOn = runsOn;
    this.#work = work;
    this.#terminal = terminal;
    const { input } = work.process;
    this.#input = hasInput && input ? new JobInput(input, { staysOpen: terminal !== undefined }) : undefined;
    this.settled = work.done.then(
      (result) => this.#settle(result, { status: this.#statusOf(result), exitCode: exitCodeOf(result) }),
      (error: unknown) => this.#fail(error, report),
    );
  }

  get status(): JobStatus {
    return this.#status;
  }

  get exitCode(): number | null {
    return this.#exitCode;
  }

  /** A killed job counts as running until its processes have ended. */
  get isRunning(): boolean {
    return this.#work !== undefined;
  }

  get survival(): string {
    return SURVIVALS[this.#runsOn];
  }

  /** Memory of an ended job. */
  get keptBytes(): number {
    const { stdout, stderr } = this.#output;
    const words = this.argv.reduce((sum, word) => sum + Buffer.byteLength(word), 0);
    return RECORD_BYTES + stdout.length + stderr.length + this.ring.bufferedBytes + words;
  }

  /** The input for callers; throws when the job takes none or has ended. */
  get input(): JobInput {
    if (!this.#work) throw new JobFault('no-input', `${this.id} has ended: nothing reads its input`);
    if (this.#input) return this.#input;
    throw new JobFault('no-input', `${this.id} has no input; start it with \`input: true\``);
  }

  kill(): void {
    this.#status = 'killed';
    this.#finishedAtMs = Date.now();
    void this.#work?.kill();
  }

  async signal(name: SignalName): Promise<void> {
    const process = this.#work?.process;
    if (!process?.sendSignal) {
      throw new JobFault('signal', `${name} cannot be sent to a job in a sandbox; leave \`signal\` out to kill it`);
    }
    this.#sent.add(`SIG${name}`);
    await process.sendSignal(`SIG${name}`);
  }

  /** Throws without a terminal. */
  resize(size: TerminalSize): void {
    if (!this.#terminal)
      throw new JobFault('bad-request', `${this.id} has no terminal: \`cols\` and \`rows\` set the size of one`);
    this.#terminal = size;
    this.#work?.process.resize?.({ columns: size.cols, rows: size.rows });
  }

  summary(): JobSummary {
    const { stdoutTruncated, stderrTruncated } = this.#outputSoFar();
    return {
      id: this.id,
      ...(this.group !== undefined && { sandbox_id: this.group }),
      started_at_ms: this.startedAtMs,
      finished_at_ms: this.#finishedAtMs,
      status: this.#status,
      exit_code: this.#exitCode,
      stdout_truncated: stdoutTruncated,
      stderr_truncated: stderrTruncated,
    };
  }

  /** Summary with its caller and its words, for the console and the operator. */
  shown(): JobSummary {
    const caller = callerRef(this.#caller);
    return {
      ...this.summary(),
      ...(caller && { caller }),
      argv: [...this.argv],
      ...(this.#label !== undefined && { label: this.#label }),
    };
  }

  record(): JobRecord {
    const { stdout, stderr } = this.#outputSoFar();
    return {
      ...this.summary(),
      argv: [...this.argv],
      ...(this.#label !== undefined && { label: this.#label }),
      stdout: stdout.toString(),
      stderr: stderr.toString(),
      next: this.ring.end,
      ...(this.#terminal && { terminal: true, ...this.#terminal }),
    };
  }

  #outputSoFar(): OutputSoFar {
    return this.#work?.outputSoFar() ?? this.#output;
  }

  #fail(error: unknown, report: (bug: Error) => void): void {
    const isKnown = error instanceof Failure;
    if (!isKnown) report(error as Error);
    const stderr = Buffer.from(isKnown ? `${error.code}: ${error.message}` : 'internal error; see the server log');
    this.ring.add('stderr', stderr);
    this.#settle({ ...NO_OUTPUT, stderr }, { status: 'failed', exitCode: null });
  }

  #settle(output: OutputSoFar, end: { status: JobStatus; exitCode: number | null }): void {
    // Copied: the kept output may be part of a larger buffer, which would stay in memory with it.
    this.#output = { ...output, stdout: Buffer.from(output.stdout), stderr: Buffer.from(output.stderr) };
    this.#work = undefined;
    if (this.#status === 'running') {
      this.#status = end.status;
      this.#exitCode = end.exitCode;
      this.#finishedAtMs = Date.now();
    }
    this.ring.finish();
  }

  #statusOf({ timedOut, exitCode, signal }: ExecutionResult): JobStatus {
    if (timedOut || (signal !== null && this.#sent.has(signal))) return 'killed';
    // A guest reports every other end by an exit code; without one it was killed, or its sandbox has ended.
    if (this.#runsOn === 'guest' && exitCode === null) return 'killed';
    return exitCode === 0 ? 'finished' : 'failed';
  }
}

/** A guest reports a signal by an exit code as well. */
function exitCodeOf({ exitCode, signal }: ExecutionResult): number | null {
  return signal === null ? exitCode : null;
}
