/** shell::kill: kills a background job with everything it started. */
import { z } from 'zod';

import { JobStatus } from '../job-record.ts';
import { shell } from '../worker.ts';

export const kill = shell.defineFunction({
  id: 'shell::kill',
  summary: 'Kill one background job and everything it started.',
  details:
    'The answer comes when nothing of the job lives, on the host or in its sandbox, or after six seconds: `reason` says why ' +
    'it lives on. If another worker owns the sandbox and cannot cancel, it runs to its timeout.',
  effect: 'execute',
  permissions: ['process.run'],
  isIdempotent: true,
  request: z.object({ job_id: z.string().describe('From shell::exec_bg.') }).meta({ title: 'KillRequest' }),
  response: z
    .object({
      job_id: z.string(),
      killed: z.boolean(),
      status: JobStatus,
      reason: z.string().nullish().describe('Why it was not killed, or why its end could not be confirmed.'),
    })
    .meta({ title: 'KillResponse' }),
  errors: ['invocation_failed'],
  examples: [],

  handle: async ({ job_id }, { jobs }) => ({ job_id, ...(await jobs.kill(job_id)) }),
});
