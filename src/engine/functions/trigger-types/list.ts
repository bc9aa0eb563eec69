/** engine::trigger-types::list: the list of types for clients before 0.12. */
import { z } from 'zod';

import { isInternal } from '../../list-rows.ts';
import { engine } from '../../worker.ts';

export const triggerTypesList = engine.defineFunction({
  id: 'engine::trigger-types::list',
  summary: 'List the trigger types in the shape that older clients read.',
  effect: 'read',
  permissions: ['engine.read'],
  request: z.object({ include_internal: z.boolean().default(false).describe('Show the engine’s own types too.') }),
  response: z.object({
    trigger_types: z.array(
      z.object({
        id: z.string(),
        description: z.string(),
        trigger_request_format: z.unknown().optional(),
        call_request_format: z.unknown().optional(),
      }),
    ),
  }),
  errors: ['deserialization_error'],
  examples: [{ include_internal: true }],

  handle({ include_internal }, { triggers }) {
    const types = [...triggers.types.values()].filter((type) => include_internal || !isInternal(type.id));
    return {
      trigger_types: types.map((type) => ({
        id: type.id,
        description: type.description,
        trigger_request_format: type.requestFormat,
        call_request_format: type.callFormat,
      })),
    };
  },
});
