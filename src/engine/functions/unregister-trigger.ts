/** engine::unregister_trigger: removes a durable binding, or one of the caller's own. */
import { z } from 'zod';

import { engine } from '../worker.ts';

export const unregisterTrigger = engine.defineFunction({
  id: 'engine::unregister_trigger',
  summary: 'Remove a binding made with engine::register_trigger.',
  effect: 'delete',
  permissions: ['engine.write'],
  request: z.object({
    id: z.string().describe('Id of the binding.'),
    trigger_type: z.string().optional().describe('Its type; not needed.'),
  }),
  response: z.object({ removed: z.boolean() }),
  errors: ['deserialization_error'],
  examples: [{ id: '00000000-0000-4000-8000-000000000000' }],

  handle({ id }, { triggers, sessions }, { call: { callerId } }) {
    const caller = callerId === undefined ? undefined : sessions.get(callerId);
    return { removed: triggers.unbind(id, caller) };
  },
});
