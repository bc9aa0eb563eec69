/** shell::kill: kills a background job with everything it started, or sends another signal to it. */
import { z } from 'zod';

import { JobStatus, SignalName } from '#job-functions';
import { jobOf } from '../job-of.ts';
import { shell } from '../worker.ts';

export const kill = shell.defineFunction({
  id: 'shell::kill',
  summary: 'Kill one background job and everything it started, or send it another signal.',
  details:
    'The answer comes when nothing of the job lives, on the host or in its sandbox, or after six seconds: `reason` says why ' +
    'it lives on. If another worker owns the sandbox and cannot cancel, it runs to its timeout.',
  effect: 'execute',
  permissions: ['process.run'],
  isIdempotent: true,
  request: z
    .object({
      job_id: z.string().describe('From shell::exec_bg.'),
      signal: SignalName.nullish().describe(
        'Another signal for the process group of the job, such as INT; the answer does not wait for what it does. KILL when left out.',
      ),
    })
    .meta({ title: 'KillRequest' }),
  response: z
    .object({
      job_id: z.string(),
      killed: z.boolean(),
      status: JobStatus,
      signal: SignalName.optional().describe('The signal that was sent instead of KILL.'),
      reason: z.string().nullish().describe('Why it was not killed, or why its end could not be confirmed.'),
    })
    .meta({ title: 'KillResponse' }),
  errors: ['invocation_failed', 'S225'],
  examples: [],

  handle: async ({ job_id, signal }, { jobs }) => ({
    job_id,
    ...(await jobs.kill(jobOf(jobs, job_id), signal ?? undefined)),
  }),
});
