/** shell::status: returns one background job with its output so far. */
import { z } from 'zod';

import { JobRecord } from '#job-functions';
import { jobOf } from '../job-of.ts';
import { shell } from '../worker.ts';

export const status = shell.defineFunction({
  id: 'shell::status',
  summary: 'Show one background job: its status, its exit code and its output so far.',
  effect: 'read',
  permissions: ['process.read'],
  request: z.object({ job_id: z.string().describe('From shell::exec_bg.') }).meta({ title: 'StatusRequest' }),
  response: z.object({ job: JobRecord }).meta({ title: 'StatusResponse' }),
  errors: ['invocation_failed'],
  examples: [],

  handle: ({ job_id }, { jobs }) => ({ job: jobOf(jobs, job_id).record() }),
});
