/** sandbox::stop: stops a sandbox with everything in it. No call finds it from then on. */
import { z } from 'zod';

import { sandbox } from '../worker.ts';

export const stop = sandbox.defineFunction({
  id: 'sandbox::stop',
  summary: 'Stop a sandbox and delete everything in it.',
  effect: 'delete',
  permissions: ['sandbox.run'],
  isIdempotent: true,
  request: z
    .object({
      sandbox_id: z.string().describe('From sandbox::create.'),
      wait: z.boolean().default(false).describe('Return only when nothing of it is left.'),
    })
    .meta({ title: 'StopRequest' }),
  response: z.object({ sandbox_id: z.string(), stopped: z.boolean() }).meta({ title: 'StopResponse' }),
  reads: { line: ['sandbox_id'] },
  errors: ['S001', 'S002', 'S004'],
  examples: [],

  async handle({ sandbox_id, wait }, { sandboxes }, { log }) {
    const found = sandboxes.find(sandbox_id);
    const { id } = found.facts;
    const stopping = sandboxes.stop(found, 'it was stopped');
    if (wait) await stopping;
    else
      stopping.catch((error: unknown) =>
        log.error('a sandbox was not cleaned up', { sandbox: id, why: String(error) }),
      );
    return { sandbox_id: id, stopped: true };
  },
});
