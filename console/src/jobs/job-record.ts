/** Jobs as the shell worker reports them. */
export interface JobSummary {
  id: string;
  started_at_ms: number;
  finished_at_ms?: number | null;
  status: 'running' | 'finished' | 'killed' | 'failed';
  exit_code?: number | null;
}

export interface JobRecord extends JobSummary {
  argv: string[];
  terminal?: boolean;
  cols?: number;
  rows?: number;
}
