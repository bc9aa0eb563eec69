/** shell::list: lists background jobs in the order they started, without argv and output: those need the job's id. */
import { z } from 'zod';

import { wire } from '#contract';
import { JobSummary } from '#job-functions';
import { shell } from '../worker.ts';

export const list = shell.defineFunction({
  id: 'shell::list',
  summary: 'List the background jobs that run or have ended lately, in the order they started.',
  effect: 'read',
  permissions: ['process.read'],
  // Ignores the request.
  request: z.preprocess(() => ({}), z.object({})),
  response: z.object({ jobs: z.array(JobSummary), count: wire.uint() }).meta({ title: 'ListResponse' }),
  errors: [],
  examples: [{}],

  handle(_request, { jobs }, { call }) {
    const summaries = jobs.summaries({ to: call.principal });
    return { jobs: summaries, count: summaries.length };
  },
});
