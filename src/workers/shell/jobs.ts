/**
 * Background jobs: admitted under a cap, watched to their end, and remembered for a while.
 *
 * Memory is bounded twice: each running job keeps at most two streams of max_output_bytes, and ended jobs together keep
 * no more than `maxKeptBytes` in `MAX_KEPT_JOBS` records; the job that ended first is forgotten first.
 */
import { randomUUID } from 'node:crypto';

import { Failure, silentLog, Watched, type Log } from '#contract';
import type { Execution, ExecutionResult, OutputSoFar } from '#host';
import { refuse } from './errors.ts';
import type { JobRecord, JobStatus, JobSummary } from './job-record.ts';

export const MAX_KEPT_JOBS = 1000;
const MIN_KEPT_BYTES = 64 * 2 ** 20;
/** Cost of a record beside its argv and its output. */
const RECORD_BYTES = 1024;
/** Longer than a host or a guest of ours takes to kill, unless the kernel holds a process. */
const KILL_WAIT_MS = 6000;

/** The work of a job. */
export type JobWork = Pick<Execution, 'outputSoFar' | 'done' | 'kill' | 'onOutput'>;

/** Where a job runs, and why it may live on after it was killed. */
const SURVIVALS = {
  host: 'its processes have not ended: the kernel ends them when what they wait for is over, such as a disk; shell::status tells when',
  sandbox: 'sandbox::exec cannot be cancelled: the process runs in its sandbox until its timeout_ms is over',
};
export type JobPlace = keyof typeof SURVIVALS;

export interface JobLimits {
  maxConcurrentJobs: number;
  retentionSecs: number;
  maxOutputBytes: number;
}

/** How a job ended. */
interface JobEnd extends OutputSoFar {
  status: Exclude<JobStatus, 'running'>;
  exitCode: number | null;
}

interface Job {
  readonly id: string;
  readonly argv: readonly string[];
  readonly place: JobPlace;
  readonly startedAtMs: number;
  status: JobStatus;
  finishedAtMs: number | null;
  exitCode: number | null;
  output: OutputSoFar;
  /** Until it has ended. */
  work?: JobWork;
  /** Resolves once the work has ended and the record is final. */
  readonly settled: Promise<void>;
  expiry?: NodeJS.Timeout;
}

export interface Killed {
  killed: boolean;
  status: JobStatus;
  reason?: string;
}

export class Jobs {
  /** Ids of those that started, printed or ended. */
  readonly watched = new Watched();
  readonly #limits: JobLimits;
  readonly #log: Log;
  readonly #maxKeptBytes: number;
  /** In the order they started. */
  readonly #jobs = new Map<string, Job>();
  /** Ended jobs in order, with their size. */
  readonly #kept = new Map<Job, number>();
  #keptBytes = 0;
  #startingCount = 0;

  constructor(limits: JobLimits, log: Log = silentLog) {
    this.#limits = limits;
    this.#log = log;
    // As much as running jobs may hold, so that those of one wave can all be read after they have ended.
    this.#maxKeptBytes = Math.max(MIN_KEPT_BYTES, 2 * limits.maxOutputBytes * limits.maxConcurrentJobs);
  }

  /** Starts a job if there is room; its slot is taken before anything runs. */
  async start(argv: readonly string[], place: JobPlace, begin: () => Promise<JobWork>): Promise<string> {
    const { maxConcurrentJobs } = this.#limits;
    if (this.#startingCount + this.#runningCount() >= maxConcurrentJobs) {
      throw refuse(`max concurrent jobs (${maxConcurrentJobs}) reached, wait for one to end or kill one`);
    }

    this.#startingCount += 1;
    try {
      return this.#watch({ argv, place }, await begin());
    } finally {
      this.#startingCount -= 1;
    }
  }

  record(id: string): JobRecord {
    const job = this.#find(id);
    const { stdout, stderr } = outputOf(job);
    return { ...summaryOf(job), argv: [...job.argv], stdout: stdout.toString(), stderr: stderr.toString() };
  }

  summaries(): JobSummary[] {
    return [...this.#jobs.values()].map(summaryOf);
  }

  async kill(id: string): Promise<Killed> {
    const job = this.#find(id);
    if (job.status !== 'running' || !job.work) return { killed: false, status: job.status, reason: 'not running' };

    job.status = 'killed';
    job.finishedAtMs = Date.now();
    void job.work.kill();
    if (await isSettledWithin(job.settled, KILL_WAIT_MS)) return { killed: true, status: 'killed' };
    return { killed: true, status: 'killed', reason: SURVIVALS[job.place] };
  }

  /** Forgets all jobs. The owner of the processes kills them. */
  close(): void {
    for (const job of this.#jobs.values()) clearTimeout(job.expiry);
    this.#jobs.clear();
    this.#kept.clear();
  }

  #watch(asked: Pick<Job, 'argv' | 'place'>, work: JobWork): string {
    const job: Job = {
      id: `job-${randomUUID()}`,
      ...asked,
      startedAtMs: Date.now(),
      status: 'running',
      finishedAtMs: null,
      exitCode: null,
      output: NO_OUTPUT,
      work,
      settled: work.done.then(
        (result) => this.#settle(job, { ...result, status: statusOf(result) }),
        (error: unknown) => this.#fail(job, error),
      ),
    };
    this.#jobs.set(job.id, job);
    work.onOutput = () => this.watched.changed(job.id);
    this.watched.changed(job.id);
    return job.id;
  }

  /** A killed job counts until it is gone. */
  #runningCount(): number {
    return [...this.#jobs.values()].filter(({ work }) => work !== undefined).length;
  }

  #find(id: string): Job {
    const job = this.#jobs.get(id);
    if (!job) throw refuse(`no such job: ${id}`);
    return job;
  }

  /** The call returned when the job started, so a bug can only be logged. */
  #fail(job: Job, error: unknown): void {
    const isKnown = error instanceof Failure;
    if (!isKnown) this.#log.error('unexpected error in a job', { stack: (error as Error).stack });
    const problem = isKnown ? `${error.code}: ${error.message}` : 'internal error; see the server log';
    this.#settle(job, { ...NO_OUTPUT, stderr: Buffer.from(problem), status: 'failed', exitCode: null });
  }

  #settle(job: Job, end: JobEnd): void {
    // Copied: the kept output may be part of a larger buffer, which would stay in memory with it.
    job.output = { ...end, stdout: Buffer.from(end.stdout), stderr: Buffer.from(end.stderr) };
    job.work = undefined;
    if (job.status === 'running') {
      job.status = end.status;
      job.exitCode = end.exitCode;
      job.finishedAtMs = Date.now();
    }
    this.watched.changed(job.id);
    if (!this.#jobs.has(job.id)) return;

    const bytes = RECORD_BYTES + job.output.stdout.length + job.output.stderr.length + lengthOf(job.argv);
    this.#kept.set(job, bytes);
    this.#keptBytes += bytes;
    job.expiry = setTimeout(() => this.#forget(job), this.#limits.retentionSecs * 1000).unref();
    for (const [oldest] of this.#kept) {
      if (this.#kept.size <= MAX_KEPT_JOBS && this.#keptBytes <= this.#maxKeptBytes) break;
      this.#forget(oldest);
    }
  }

  #forget(job: Job): void {
    clearTimeout(job.expiry);
    this.#jobs.delete(job.id);
    this.#keptBytes -= this.#kept.get(job) ?? 0;
    this.#kept.delete(job);
  }
}

function statusOf({ timedOut, exitCode }: ExecutionResult): JobEnd['status'] {
  if (timedOut) return 'killed';
  return exitCode === 0 ? 'finished' : 'failed';
}

const NO_OUTPUT: OutputSoFar = {
  stdout: Buffer.alloc(0),
  stderr: Buffer.alloc(0),
  stdoutTruncated: false,
  stderrTruncated: false,
};

function outputOf({ work, output }: Job): OutputSoFar {
  return work?.outputSoFar() ?? output;
}

function summaryOf(job: Job): JobSummary {
  const { stdoutTruncated, stderrTruncated } = outputOf(job);
  return {
    id: job.id,
    started_at_ms: job.startedAtMs,
    finished_at_ms: job.finishedAtMs,
    status: job.status,
    exit_code: job.exitCode,
    stdout_truncated: stdoutTruncated,
    stderr_truncated: stderrTruncated,
  };
}

async function isSettledWithin(settled: Promise<void>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => (timer = setTimeout(() => resolve(false), ms)));
  try {
    return await Promise.race([settled.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

function lengthOf(words: readonly string[]): number {
  return words.reduce((sum, word) => sum + Buffer.byteLength(word), 0);
}
