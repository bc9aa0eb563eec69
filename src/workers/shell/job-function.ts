/** Operations on jobs as functions of shell. */
import type { z } from 'zod';

import type { JobOperation } from '#job-functions';
import { refuse, type ShellCode } from './errors.ts';
import { shell } from './worker.ts';

type Operation<Request extends z.ZodObject, Response extends z.ZodType> = (
  worker: string,
) => JobOperation<Request, Response>;

export function jobFunction<Request extends z.ZodObject, Response extends z.ZodType, Id extends string>(
  { id }: { id: Id },
  operation: Operation<Request, Response>,
) {
  const made = operation('shell');
  return shell.defineFunction<Request, Response, Id>({
    ...made,
    id,
    examples: [],
    handle: (request, { live }, scope) => made.handle(request, live, scope),
  });
}

/** A function that the original has too: there an unknown id is refused by its text, without a code. */
export function originalJobFunction<Request extends z.ZodObject, Response extends z.ZodType, Id extends string>(
  { id, details, errors }: { id: Id; details?: string; errors: readonly ShellCode[] },
  operation: Operation<Request, Response>,
) {
  const made = operation('shell');
  return shell.defineFunction<Request, Response, Id>({
    ...made,
    ...(details !== undefined && { details }),
    id,
    errors: ['invocation_failed', ...errors],
    examples: [],
    handle(request, { live }, scope) {
      const { job_id: jobId } = request as { job_id: string };
      if (!live.jobs.get(jobId)) throw refuse(`no such job: ${jobId}`);
      return made.handle(request, live, scope);
    },
  });
}
