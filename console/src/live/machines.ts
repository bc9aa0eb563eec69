/** Background jobs and sandboxes, loaded while any page is open. */
import { signal } from '@preact/signals';

import { duration } from '../format.ts';
import type { JobRow, JobSummary, JobWorker } from '../jobs/job-record.ts';
import { call, isServed } from '../session.ts';

export interface Sandbox {
  sandbox_id: string;
  /** The node of the job or sandbox, in a cluster. */
  node?: string;
  name?: string | null;
  image: string;
  age_secs: number;
  exec_in_flight?: number;
  isolation?: string;
  cpus?: number;
  memory_mb?: number;
  disk_mb?: number;
  network?: boolean;
  idle_secs?: number | null;
  idle_deadline_secs?: number | null;
  caller?: { id: string; label: string };
  usage?: { memory_bytes: number; pids: number; cpu_ms: number; disk_bytes: number };
}

export interface ShownSandbox extends Sandbox {
  loadedAtMs: number;
  /** Processors in use since the load before. */
  busyCpus?: number;
}

/** Undefined until loaded, and where no worker serves them. */
export const jobs = signal<JobRow[] | undefined>(undefined);
export const jobsError = signal<unknown>(undefined);
export const sandboxes = signal<ShownSandbox[] | undefined>(undefined);
export const sandboxesError = signal<unknown>(undefined);

/** Shorter than this, the use of a processor is mostly chance. */
const LEAST_SAMPLE_MS = 900;
const LISTS: Record<JobWorker, string> = { shell: 'shell::list', sandbox: 'sandbox::jobs' };

export async function loadJobs(worker: JobWorker): Promise<void> {
  try {
    const { jobs: listed } = await call<{ jobs: JobSummary[] }>(LISTS[worker]);
    const others = (jobs.value ?? []).filter((job) => job.worker !== worker);
    jobs.value = [...others, ...listed.map((job) => ({ ...job, worker }))].toSorted(runningFirst);
    jobsError.value = undefined;
  } catch (error) {
    jobsError.value = error;
  }
}

export async function loadSandboxes(): Promise<void> {
  try {
    const { sandboxes: listed } = await call<{ sandboxes: Sandbox[] }>('sandbox::list');
    const before = new Map(sandboxes.value?.map((one) => [one.sandbox_id, one]));
    sandboxes.value = listed.map((one) => sampled(one, before.get(one.sandbox_id), Date.now()));
    sandboxesError.value = undefined;
  } catch (error) {
    sandboxesError.value = error;
  }
  if (isServed(LISTS.sandbox)) await loadJobs('sandbox');
}

export function runningJobs(): JobRow[] {
  return (jobs.value ?? []).filter(({ status }) => status === 'running');
}

function runningFirst(a: JobRow, b: JobRow): number {
  const isRunning = (job: JobRow) => Number(job.status === 'running');
  return isRunning(b) - isRunning(a) || b.started_at_ms - a.started_at_ms;
}

export function sampled(now: Sandbox, before: ShownSandbox | undefined, nowMs: number): ShownSandbox {
  if (!now.usage || !before?.usage) return { ...now, loadedAtMs: nowMs };
  const tookMs = nowMs - before.loadedAtMs;
  const kept = { loadedAtMs: before.loadedAtMs, usage: { ...now.usage, cpu_ms: before.usage.cpu_ms } };
  // Too short to measure: the next load measures from the same start.
  if (tookMs < LEAST_SAMPLE_MS)
    return { ...now, ...kept, ...(before.busyCpus !== undefined && { busyCpus: before.busyCpus }) };
  return { ...now, loadedAtMs: nowMs, busyCpus: Math.max(0, now.usage.cpu_ms - before.usage.cpu_ms) / tookMs };
}

/** The list is loaded every few seconds; the age grows between two loads. */
export function ageMs({ age_secs: age, loadedAtMs }: ShownSandbox): number {
  return Math.max(1_000, age * 1_000 + Date.now() - loadedAtMs);
}

export function idleText({ idle_secs: idle }: ShownSandbox): string {
  return idle == null ? 'in use' : `idle ${duration(Math.max(1_000, idle * 1_000))}`;
}
