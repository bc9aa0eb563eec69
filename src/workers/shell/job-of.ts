/** A job by its id, for the functions of the original: an unknown id is refused by its text, without a code. */
import type { BackgroundJob, Jobs } from '#job-functions';
import { refuse } from './errors.ts';

export function jobOf(jobs: Jobs, id: string): BackgroundJob {
  const job = jobs.get(id);
  if (!job) throw refuse(`no such job: ${id}`);
  return job;
}
