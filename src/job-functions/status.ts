/** status: returns one job with its output so far. */
import { z } from 'zod';

import { defineJobOperation } from './job-operation.ts';
import { JobRecord } from './job-record.ts';

export const status = (worker: string) =>
  defineJobOperation({
    summary: 'Show one background job: its status, its exit code and its output so far.',
    effect: 'read',
    permissions: ['process.read'],
    request: z.object({ job_id: z.string().describe(`From ${worker}::exec_bg.`) }).meta({ title: 'StatusRequest' }),
    response: z.object({ job: JobRecord }).meta({ title: 'StatusResponse' }),
    reads: { line: ['job_id'] },
    errors: ['S210', 'S220'],

    handle: async ({ job_id }, { jobs }) => ({ job: jobs.find(job_id).record() }),
  });
