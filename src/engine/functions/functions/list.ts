/** engine::functions::list: lists functions with schemas, so that one call fills a catalogue. */
import { z } from 'zod';

import { functionRow, isInternal } from '../../list-rows.ts';
import { rankBySearch } from '../../search-rank.ts';
import { engine } from '../../worker.ts';

export const FunctionRowSchema = z.object({
  function_id: z.string(),
  namespace: z.string(),
  worker_name: z.string(),
  description: z.string().nullable(),
  request_format: z.unknown().optional(),
  response_format: z.unknown().optional(),
  metadata: z.unknown().optional(),
});

export const functionsList = engine.defineFunction({
  id: 'engine::functions::list',
  summary: 'List the functions that live workers serve.',
  effect: 'read',
  permissions: ['engine.read'],
  request: z.object({
    search: z.string().optional().describe('Keep functions whose id or description holds this text; best first.'),
    prefix: z.string().optional().describe('Keep functions whose id starts with this.'),
    worker: z.string().optional().describe('Keep functions of the worker with this name.'),
    workers: z.array(z.string()).optional().describe('Keep functions of the workers with these names.'),
    namespace: z.string().optional().describe('Keep functions of this namespace.'),
    include_internal: z.boolean().default(false).describe('Show the engine’s own functions and those marked internal.'),
  }),
  response: z.object({ functions: z.array(FunctionRowSchema) }),
  errors: ['deserialization_error'],
  examples: [{}, { prefix: 'coder::' }],

  handle(request, { registry }) {
    const workers = new Set([...(request.workers ?? []), ...(request.worker ? [request.worker] : [])]);
    const rows = registry
      .listAll(request.namespace)
      .map(functionRow)
      .filter((row) => request.include_internal || !isInternal(row.function_id, row.metadata))
      .filter((row) => row.function_id.startsWith(request.prefix ?? ''))
      .filter((row) => request.namespace === undefined || row.namespace === request.namespace)
      .filter((row) => workers.size === 0 || workers.has(row.worker_name));
    const texts = (row: (typeof rows)[number]) => ({ id: row.function_id, description: row.description ?? '' });
    return { functions: rankBySearch(rows, request.search, texts) };
  },
});
