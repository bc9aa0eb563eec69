/** Jobs as the shell worker and the sandbox worker report them. */
export interface JobSummary {
  id: string;
  argv?: string[];
  /** Label to show instead of argv. */
  label?: string;
  sandbox_id?: string;
  caller?: { id: string; label: string };
  started_at_ms: number;
  finished_at_ms?: number | null;
  status: 'running' | 'finished' | 'killed' | 'failed';
  exit_code?: number | null;
}

/** The worker that a job belongs to, whose functions operate on it. */
export type JobWorker = 'shell' | 'sandbox';

export interface JobRow extends JobSummary {
  worker: JobWorker;
}

export interface JobRecord extends JobSummary {
  argv: string[];
  terminal?: boolean;
  cols?: number;
  rows?: number;
}

/** Its command as its caller gave it. */
export function commandOf({ id, argv, label }: JobSummary): string {
  return label ?? argv?.join(' ') ?? id;
}

/** The end of a job in a word or two. */
export function outcomeOf({ status, exit_code: code }: JobSummary): string {
  return status === 'failed' && code != null ? `exit ${code}` : status;
}
