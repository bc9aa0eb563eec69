/** sandbox::jobs: lists background jobs in the order they started, without argv and output: those need the job's id. */
import { z } from 'zod';

import { wire } from '#contract';
import { JobSummary } from '#job-functions';
import { parseSandboxId } from '../live/sandbox-id.ts';
import { sandbox } from '../worker.ts';

export const jobs = sandbox.defineFunction({
  id: 'sandbox::jobs',
  summary: 'List the background jobs of sandboxes that run or have ended lately, in the order they started.',
  effect: 'read',
  permissions: ['sandbox.process.read'],
  request: z
    .object({ sandbox_id: z.string().nullish().describe('Only those of this sandbox, also after it was stopped.') })
    .meta({ title: 'JobsRequest' }),
  response: z.object({ jobs: z.array(JobSummary), count: wire.uint() }).meta({ title: 'JobsResponse' }),
  reads: { line: ['sandbox_id'] },
  errors: ['S001'],
  examples: [{}],

  handle({ sandbox_id: id }, { live }, { call }) {
    const summaries = live.jobs.summaries({ to: call.principal, group: id == null ? undefined : parseSandboxId(id) });
    return { jobs: summaries, count: summaries.length };
  },
});
