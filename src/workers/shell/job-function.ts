/** An operation on jobs as a function of shell. */
import type { z } from 'zod';

import type { JobOperation } from '#job-functions';
import { shell } from './worker.ts';

export function jobFunction<Request extends z.ZodObject, Response extends z.ZodType, Id extends string>(
  { id }: { id: Id },
  operation: JobOperation<Request, Response>,
) {
  return shell.defineFunction<Request, Response, Id>({
    ...operation,
    id,
    examples: [],
    handle: (request, { live }, scope) => operation.handle(request, live, scope),
  });
}
