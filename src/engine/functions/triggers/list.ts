/** engine::triggers::list: the trigger types on offer (bindings are engine::registered-triggers::list). */
import { z } from 'zod';

import { isInternal, triggerTypeRow } from '../../list-rows.ts';
import { rankBySearch } from '../../search-rank.ts';
import { engine } from '../../worker.ts';

export const triggersList = engine.defineFunction({
  id: 'engine::triggers::list',
  summary: 'List the trigger types that functions can be bound to.',
  effect: 'read',
  permissions: ['engine.read'],
  request: z.object({
    search: z.string().optional().describe('Keep types whose id or description holds this text; best first.'),
    prefix: z.string().optional().describe('Keep types whose id starts with this.'),
    worker: z.string().optional().describe('Keep types offered by the worker with this name.'),
    include_internal: z.boolean().default(false).describe('Show the engine’s own types too.'),
  }),
  response: z.object({
    triggers: z.array(z.object({ id: z.string(), worker_name: z.string(), description: z.string() })),
  }),
  errors: ['deserialization_error'],
  examples: [{ include_internal: true }],

  handle(request, { triggers }) {
    const rows = [...triggers.types.values()]
      .map(triggerTypeRow)
      .filter((row) => request.include_internal || !isInternal(row.id))
      .filter((row) => row.id.startsWith(request.prefix ?? ''))
      .filter((row) => request.worker === undefined || row.worker_name === request.worker)
      .toSorted((a, b) => (a.id < b.id ? -1 : 1));
    return { triggers: rankBySearch(rows, request.search, (row) => row) };
  },
});
