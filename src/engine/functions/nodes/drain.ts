/** engine::nodes::drain: lets the node that is called take no new sandboxes, or take them again. */
import { z } from 'zod';

import { fail } from '../../errors.ts';
import { engine } from '../../worker.ts';
import { NodeRowSchema } from './list.ts';

export const nodesDrain = engine.defineFunction({
  id: 'engine::nodes::drain',
  summary: 'Let this node take no new sandboxes, or take them again; call another with its name as namespace.',
  details: 'Its sandboxes live on until they end by themselves. /readyz answers 503 meanwhile.',
  effect: 'write',
  isIdempotent: true,
  permissions: ['engine.write'],
  request: z.object({ resume: z.boolean().default(false).describe('true to take new ones again.') }),
  response: z.object({ node: NodeRowSchema }),
  errors: ['deserialization_error', 'NOT_FOUND'],
  examples: [],

  handle({ resume }, { registry }) {
    if (!registry.elsewhere) throw fail('NOT_FOUND', { text: 'this engine is not a node of a cluster' });
    return { node: registry.elsewhere.drain(!resume) };
  },
});
