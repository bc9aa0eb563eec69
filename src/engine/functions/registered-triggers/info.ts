/** engine::registered-triggers::info: one binding with its type and its function. */
import { z } from 'zod';

import { fail } from '../../errors.ts';
import { triggerRow, triggerTypeRow } from '../../list-rows.ts';
import { engine } from '../../worker.ts';
import { describe } from '../functions/info.ts';
import { TriggerRowSchema } from './list.ts';

export const registeredTriggersInfo = engine.defineFunction({
  id: 'engine::registered-triggers::info',
  summary: 'Describe one binding of a trigger type to a function.',
  effect: 'read',
  permissions: ['engine.read'],
  request: z.object({ id: z.string().describe('Id of the binding.') }),
  response: TriggerRowSchema.extend({
    metadata: z.unknown().optional(),
    trigger: z.unknown(),
    function: z.unknown(),
  }),
  errors: ['NOT_FOUND', 'deserialization_error'],
  examples: [],

  handle({ id }, context) {
    const trigger = context.triggers.bindings.get(id);
    if (!trigger) throw fail('NOT_FOUND', { text: `Registered trigger '${id}' was not found.` });

    const type = context.triggers.types.get(trigger.type);
    return {
      ...triggerRow(trigger),
      metadata: trigger.metadata,
      trigger: type ? triggerTypeRow(type) : null,
      function: describe(trigger.functionId, trigger.namespace, context) ?? null,
    };
  },
});
