/** shell::kill: kills a background job with everything it started, or sends another signal to it. */
import { kill as operation } from '#job-functions';
import { originalJobFunction } from '../job-function.ts';

export const kill = originalJobFunction(
  {
    id: 'shell::kill',
    details:
      'The answer comes when nothing of the job lives, on the host or in its sandbox, or after six seconds: `reason` says why ' +
      'it lives on. If another worker owns the sandbox and cannot cancel, it runs to its timeout.',
    errors: ['S225'],
  },
  operation,
);
