/** Background jobs as a table. */
import { z } from 'zod';

import { duration, type Table } from './render.ts';

export const jobRows = z.object({
  id: z.string(),
  status: z.string(),
  exit_code: z.int().nullish(),
  started_at_ms: z.number(),
  finished_at_ms: z.number().nullish(),
});
type Row = z.output<typeof jobRows>;

/** `first` is a column before the others. */
export function jobTable<Job extends Row>(
  jobs: readonly Job[],
  { first }: { first?: [head: string, cell: (job: Job) => string] } = {},
): Table | string {
  if (jobs.length === 0) return 'No jobs.\n';
  const now = Date.now();
  const rows = jobs.map((job) => [
    ...(first ? [first[1](job)] : []),
    ...[job.id, job.status, String(job.exit_code ?? '')],
    ...[duration(now - job.started_at_ms), duration((job.finished_at_ms ?? now) - job.started_at_ms)],
  ]);
  return { head: [...(first ? [first[0]] : []), 'JOB', 'STATUS', 'EXIT', 'AGE', 'RAN'], rows };
}
