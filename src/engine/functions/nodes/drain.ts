/** engine::nodes::drain: lets the node that is called take no new sandboxes, or take them again. */
import { z } from 'zod';

import { requireOperator } from '../../calls/by-person.ts';
import { fail } from '../../errors.ts';
import { engine } from '../../worker.ts';
import { NodeRowSchema } from './list.ts';

export const nodesDrain = engine.defineFunction({
  id: 'engine::nodes::drain',
  summary: "Let this node take no new sandboxes, or take them again; needs the operator's key.",
  details:
    'Call another node with its name as namespace. Its sandboxes live on until they end by themselves. /readyz answers 503 meanwhile.',
  effect: 'write',
  isIdempotent: true,
  permissions: ['engine.write'],
  request: z.object({ resume: z.boolean().default(false).describe('true to take new ones again.') }),
  response: z.object({ node: NodeRowSchema }),
  errors: ['deserialization_error', 'operator_only', 'NOT_FOUND'],
  examples: [],

  handle({ resume }, { registry, sessions }, scope) {
    const command = `workcell nodes ${resume ? 'resume' : 'drain'}`;
    requireOperator(sessions, scope, { what: resume ? 'resuming a node' : 'draining a node', command });
    if (!registry.otherNodes) throw fail('NOT_FOUND', { text: 'this engine is not a node of a cluster' });
    return { node: registry.otherNodes.drain(!resume) };
  },
});
