/** engine::triggers::info: one trigger type with its schemas. */
import { z } from 'zod';

import { fail } from '../../errors.ts';
import { triggerTypeRow } from '../../list-rows.ts';
import { engine } from '../../worker.ts';

export const triggersInfo = engine.defineFunction({
  id: 'engine::triggers::info',
  summary: 'Describe one trigger type.',
  effect: 'read',
  permissions: ['engine.read'],
  request: z.object({ id: z.string().describe('The trigger type.') }),
  response: z.object({
    id: z.string(),
    worker_name: z.string(),
    description: z.string(),
    configuration_schema: z.unknown().optional(),
    request_schema: z.unknown().optional(),
    instance_count: z.int(),
  }),
  errors: ['NOT_FOUND', 'deserialization_error'],
  examples: [{ id: 'engine::workers-available' }],

  handle({ id }, { triggers }) {
    const type = triggers.types.get(id);
    if (!type) throw fail('NOT_FOUND', { text: `Trigger type '${id}' is not registered.` });
    return {
      ...triggerTypeRow(type),
      configuration_schema: type.requestFormat,
      request_schema: type.callFormat,
      instance_count: triggers.bindingsOf(id).length,
    };
  },
});
