/** kill: kills a job with everything it started, or sends another signal to it. */
import { z } from 'zod';

import { defineJobOperation } from './job-operation.ts';
import { JobStatus } from './job-record.ts';
import { SignalName } from './signals.ts';

export const kill = (worker: string) =>
  defineJobOperation({
    summary: 'Kill one background job and everything it started, or send it another signal.',
    details: 'The answer comes when nothing of the job lives, or after six seconds: `reason` says why it lives on.',
    effect: 'execute',
    permissions: ['process.run'],
    isIdempotent: true,
    request: z
      .object({
        job_id: z.string().describe(`From ${worker}::exec_bg.`),
        signal: SignalName.nullish().describe(
          'Another signal for the process group of the job, such as INT; the answer does not wait for its effect. Default KILL.',
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
    reads: { line: ['job_id', 'signal'] },
    errors: ['S210', 'S220', 'S225'],

    handle: async ({ job_id, signal }, { jobs }) => ({
      job_id,
      ...(await jobs.kill(jobs.find(job_id), signal ?? undefined)),
    }),
  });
