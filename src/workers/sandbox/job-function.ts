/** An operation on jobs as a function of the sandbox worker. It counts as use of the job's sandbox. */
import type { z } from 'zod';

import type { JobOperation } from '#job-functions';
import { inSandbox } from './file-function.ts';
import { holdSandboxOf } from './live/open-jobs.ts';
import { sandbox } from './worker.ts';

/** Codes by which the agent of a sandbox may refuse, and a host does not. */
type OwnCode = 'S219';

export function jobFunction<Request extends z.ZodObject, Response extends z.ZodType, Id extends string>(
  { id, errors = [] }: { id: Id; errors?: readonly OwnCode[] },
  operation: (worker: string) => JobOperation<Request, Response>,
) {
  const made = operation('sandbox');
  return sandbox.defineFunction<Request, Response, Id>({
    ...made,
    id,
    permissions: inSandbox(made.permissions),
    errors: [...made.errors, ...errors],
    examples: [],
    async handle(request, { live, sandboxes }, scope) {
      const { job_id: jobId } = request as { job_id: string };
      const release = holdSandboxOf(live.jobs.get(jobId), sandboxes);
      try {
        return await made.handle(request, live, scope);
      } finally {
        release();
      }
    },
  });
}
