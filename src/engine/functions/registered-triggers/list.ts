/** engine::registered-triggers::list: the bindings of trigger types to functions. */
import { z } from 'zod';

import { isInternal, triggerRow } from '../../list-rows.ts';
import { rankBySearch } from '../../search-rank.ts';
import { engine } from '../../worker.ts';

export const PendingSchema = z
  .literal(true)
  .optional()
  .describe('Whether the binding waits: no worker offers its trigger type, or the one that does refused it.');

export const TriggerRowSchema = z.object({
  id: z.string(),
  trigger_type: z.string(),
  function_id: z.string(),
  worker_name: z.string(),
  config: z.unknown(),
  config_summary: z.string(),
  pending: PendingSchema,
});

export const registeredTriggersList = engine.defineFunction({
  id: 'engine::registered-triggers::list',
  summary: 'List which functions are bound to which trigger types.',
  effect: 'read',
  permissions: ['engine.read'],
  request: z.object({
    search: z.string().optional().describe('Keep bindings whose function or config holds this text; best first.'),
    trigger_type: z.string().optional().describe('Keep bindings of this type.'),
    function_id: z.string().optional().describe('Keep bindings of this function.'),
    worker: z.string().optional().describe('Keep bindings made by the worker with this name.'),
    include_internal: z.boolean().default(false).describe('Show bindings of internal functions too.'),
  }),
  response: z.object({ registered_triggers: z.array(TriggerRowSchema) }),
  errors: ['deserialization_error'],
  examples: [{}],

  handle(request, { triggers }) {
    const rows = [...triggers.bindings.values()]
      .map(triggerRow)
      .filter((row) => request.include_internal || !isInternal(row.function_id))
      .filter((row) => request.trigger_type === undefined || row.trigger_type === request.trigger_type)
      .filter((row) => request.function_id === undefined || row.function_id === request.function_id)
      .filter((row) => request.worker === undefined || row.worker_name === request.worker);
    const texts = (row: (typeof rows)[number]) => ({ id: row.function_id, description: row.config_summary });
    return { registered_triggers: rankBySearch(rows, request.search, texts) };
  },
});
