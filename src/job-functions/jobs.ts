/**
 * Background jobs: admitted under a cap, watched to their end, and remembered for a while.
 *
 * Memory is bounded twice: each running job keeps at most two streams of max_output_bytes and its ring, and ended jobs
 * together keep no more than `maxKeptBytes` in `MAX_KEPT_JOBS` records; the job that ended first is forgotten first.
 */
import { byState, gauge, silentLog, Watched, type Log, type Metric } from '#contract';
import { OutputRing } from '#host';
import type { Caller } from '#protocol';
import { BackgroundJob, type JobRequest, type JobWork } from './background-job.ts';
import { JobFault } from './job-fault.ts';
import { JobStatus, type JobSummary } from './job-record.ts';
import { DEFAULT_RING_BYTES } from './ring-bytes.ts';
import { isSettledWithin } from './timeout.ts';
import type { SignalName } from './signals.ts';

export const MAX_KEPT_JOBS = 1000;
const MIN_KEPT_BYTES = 64 * 2 ** 20;
/** Wait for a kill; longer than a host or a guest takes, unless a process is stuck in the kernel. */
const KILL_WAIT_MS = 6000;

export interface JobLimits {
  maxConcurrentJobs: number;
  retentionSecs: number;
  maxOutputBytes: number;
  /** Called before the end of a job is reported. */
  beforeEnd?: (job: BackgroundJob) => Promise<void>;
  /** Creates the UUIDs of their ids. */
  makeUuid?: (() => string) | undefined;
}

export interface Killed {
  killed: boolean;
  status: JobStatus;
  reason?: string;
  signal?: SignalName;
}

export class Jobs {
  /** Gets the ids of jobs that started, printed or ended, and the events of each. */
  readonly watched: Watched;
  readonly #limits: JobLimits;
  readonly #log: Log;
  readonly #maxKeptBytes: number;
  /** Jobs in the order of their start. */
  readonly #jobs = new Map<string, BackgroundJob>();
  /** Ended jobs in order. */
  readonly #kept = new Map<BackgroundJob, { bytes: number; expiry: NodeJS.Timeout }>();
  #keptBytes = 0;
  readonly #reserved = new Map<string | undefined, number>();
  /** Promises that resolve when the end of a job was reported. */
  readonly #reports = new WeakMap<BackgroundJob, Promise<void>>();

  /** `maxConcurrentJobs` is a limit for each group. */
  constructor(limits: JobLimits, log: Log = silentLog, watched = new Watched()) {
    this.#limits = limits;
    this.watched = watched;
    this.#log = log;
    // As much as running jobs may use, so that the output of jobs that end together can still be read.
    const runningBytes = 2 * limits.maxOutputBytes + DEFAULT_RING_BYTES;
    this.#maxKeptBytes = Math.max(MIN_KEPT_BYTES, runningBytes * limits.maxConcurrentJobs);
  }

  /** Starts a job if there is room. */
  async start(
    request: JobRequest & { ringBytes?: number | undefined },
    begin: (ring: OutputRing) => Promise<JobWork>,
  ): Promise<BackgroundJob> {
    const slot = this.reserve(request.group);
    try {
      const ring = new OutputRing(request.ringBytes ?? DEFAULT_RING_BYTES);
      return this.adopt(request, await begin(ring), ring);
    } finally {
      slot[Symbol.dispose]();
    }
  }

  /** Reserves a slot for a job, until the result is disposed. */
  reserve(group?: string): Disposable {
    const { maxConcurrentJobs } = this.#limits;
    const reserved = this.#reserved.get(group) ?? 0;
    if (reserved + this.#runningIn(group).length >= maxConcurrentJobs) {
      throw new JobFault('full', `max concurrent jobs (${maxConcurrentJobs}) reached, wait for one to end or kill one`);
    }
    this.#reserved.set(group, reserved + 1);
    return {
      [Symbol.dispose]: () => {
        const left = this.#reserved.get(group)! - 1;
        if (left > 0) this.#reserved.set(group, left);
        else this.#reserved.delete(group);
      },
    };
  }

  /** Turns work that was begun in a reserved slot into a job, with the ring that it writes to. */
  adopt(request: JobRequest, work: JobWork, ring: OutputRing): BackgroundJob {
    const report = ({ stack }: Error) => this.#log.error('unexpected error in a job', { stack });
    const uuid = this.#limits.makeUuid?.();
    const job = new BackgroundJob(uuid === undefined ? request : { ...request, uuid }, { work, ring, report });
    this.#jobs.set(job.id, job);
    ring.onChange(() => this.watched.changed(job.id));
    this.#reports.set(
      job,
      job.settled.then(() => this.#ended(job)),
    );
    this.watched.changed(job.id);
    this.watched.happened('job_started', { job_id: job.id, ...inSandbox(job) });
    return job;
  }

  get(id: string): BackgroundJob | undefined {
    return this.#jobs.get(id);
  }

  /** Throws `JobFault` for an id that is not known. */
  find(id: string): BackgroundJob {
    const job = this.#jobs.get(id);
    if (!job) throw new JobFault('missing', `no such job: ${id}; it may have been forgotten some time after its end`);
    return job;
  }

  /** Rows of one group, or of all jobs; the console and the operator also get the words and the caller of each. */
  summaries({ group, to }: { group?: string | undefined; to?: Caller | undefined } = {}): JobSummary[] {
    const all = [...this.#jobs.values()].filter((job) => group === undefined || job.group === group);
    return all.map((job) => (to?.kind === 'page' || to?.approves ? job.shown() : job.summary()));
  }

  metrics(): Metric[] {
    const states = [...this.#jobs.values()].map(({ status }) => status);
    const help = 'Background jobs that run or are remembered, by state.';
    return [gauge('workcell_jobs', help, byState(JobStatus.options, states))];
  }

  /** Kills the jobs of a group; resolves when the end of each was reported. */
  async endGroup(group: string): Promise<void> {
    const jobs = this.#runningIn(group);
    for (const job of jobs) if (job.status === 'running') job.kill();
    for (const job of this.#jobs.values()) if (job.group === group) await this.#reports.get(job);
  }

  /** Kills the job with all its processes, or sends another signal to its process group. */
  async kill(job: BackgroundJob, signal: SignalName = 'KILL'): Promise<Killed> {
    if (job.status !== 'running') return { killed: false, status: job.status, reason: 'not running' };
    if (signal !== 'KILL') {
      await job.signal(signal);
      return { killed: false, status: job.status, signal };
    }
    job.kill();
    if (await isSettledWithin(job.settled, KILL_WAIT_MS)) return { killed: true, status: 'killed' };
    return { killed: true, status: 'killed', reason: job.survival };
  }

  /** Forgets all jobs. The owner of the processes kills them. */
  close(): void {
    for (const { expiry } of this.#kept.values()) clearTimeout(expiry);
    this.#jobs.clear();
    this.#kept.clear();
  }

  /** A killed job counts until it is gone. */
  #runningIn(group: string | undefined): BackgroundJob[] {
    return [...this.#jobs.values()].filter((job) => job.isRunning && job.group === group);
  }

  async #ended(job: BackgroundJob): Promise<void> {
    this.watched.changed(job.id);
    if (this.#jobs.has(job.id)) this.#keep(job);
    await this.#limits.beforeEnd?.(job);
    const { status, exitCode: exit_code } = job;
    this.watched.happened('job_ended', { job_id: job.id, ...inSandbox(job), status, exit_code });
  }

  #keep(job: BackgroundJob): void {
    const expiry = setTimeout(() => this.#forget(job), this.#limits.retentionSecs * 1000).unref();
    this.#kept.set(job, { bytes: job.keptBytes, expiry });
    this.#keptBytes += job.keptBytes;
    for (const [oldest] of this.#kept) {
      if (this.#kept.size <= MAX_KEPT_JOBS && this.#keptBytes <= this.#maxKeptBytes) break;
      this.#forget(oldest);
    }
  }

  #forget(job: BackgroundJob): void {
    const { bytes, expiry } = this.#kept.get(job)!;
    clearTimeout(expiry);
    this.#jobs.delete(job.id);
    this.#keptBytes -= bytes;
    this.#kept.delete(job);
  }
}

function inSandbox({ group }: BackgroundJob): { sandbox_id?: string } {
  return group === undefined ? {} : { sandbox_id: group };
}
