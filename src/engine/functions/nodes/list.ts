/** engine::nodes::list: the nodes of the cluster, as this one knows them. */
import { z } from 'zod';

import { SandboxReportSchema } from '#contract';
import { engine } from '../../worker.ts';

export const NodeRowSchema = z.object({
  name: z.string(),
  id: z.string(),
  state: z.enum(['up', 'draining', 'cut off']),
  roles: z.array(z.string()),
  aliases: z.array(z.string()),
  labels: z.record(z.string(), z.string()),
  version: z.string(),
  self: z.boolean(),
  url: z.string().optional(),
  joined_ms: z.number(),
  heard_ms_ago: z.number(),
  calls_out: z.int(),
  calls_in: z.int(),
  functions: z.int(),
  sandboxes: SandboxReportSchema.optional(),
});

export const nodesList = engine.defineFunction({
  id: 'engine::nodes::list',
  summary: 'List the nodes of the cluster that this engine is part of; empty without a cluster.',
  effect: 'read',
  permissions: ['engine.read'],
  request: z.object({}),
  response: z.object({ nodes: z.array(NodeRowSchema) }),
  errors: ['deserialization_error'],
  examples: [{}],

  handle: (_, { registry }) => ({ nodes: registry.otherNodes?.nodes() ?? [] }),
});
