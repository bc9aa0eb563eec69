/** engine::metrics: figures about calls, queues, memory and workers, for monitoring. */
import { z } from 'zod';

import { MetricSchema } from '#contract';
import { engine } from '../worker.ts';

export const metrics = engine.defineFunction({
  id: 'engine::metrics',
  summary: 'Read the metrics of this server; GET /metrics returns them as Prometheus text.',
  effect: 'read',
  permissions: ['engine.read'],
  request: z.object({}),
  response: z.object({ metrics: z.array(MetricSchema) }),
  errors: ['deserialization_error'],
  examples: [{}],

  handle: async (_, context) => ({ metrics: await context.metrics.read() }),
});
