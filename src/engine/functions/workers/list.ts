/** engine::workers::list: the connected workers. Peers that never registered as a worker are left out. */
import { z } from 'zod';

import type { EngineContext } from '../../worker.ts';
import { workerRow } from '../../list-rows.ts';
import { rankBySearch } from '../../search-rank.ts';
import type { Session } from '../../session.ts';
import { engine } from '../../worker.ts';

export const WorkerRowSchema = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  version: z.string(),
  runtime: z.string(),
  os: z.string(),
  pid: z.int().nullable(),
  isolation: z.string().nullable(),
  ip_address: z.string().nullable(),
  namespace: z.string(),
  status: z.enum(['connected', 'available']),
  connected_at_ms: z.int(),
  active_invocations: z.int(),
  function_count: z.int(),
  functions: z.array(z.string()),
});

export const workersList = engine.defineFunction({
  id: 'engine::workers::list',
  summary: 'List the workers that are connected.',
  effect: 'read',
  permissions: ['engine.read'],
  request: z.object({
    search: z.string().optional().describe('Keep workers whose name or description holds this text; best first.'),
    runtime: z.string().optional().describe('Keep workers of this runtime, such as node or python.'),
    status: z.string().optional().describe('Keep workers of this status.'),
    worker_id: z.string().optional().describe('Keep the worker with this connection id.'),
  }),
  response: z.object({ workers: z.array(WorkerRowSchema), timestamp: z.int() }),
  errors: ['deserialization_error'],
  examples: [{}],

  handle(request, context) {
    const rows = [...context.sessions.values()]
      .filter((session) => session.info !== undefined && (session.info.pid !== undefined || session.isInProcess))
      .map((session) => rowOf(session, context))
      .filter((row) => request.runtime === undefined || row.runtime === request.runtime)
      .filter((row) => request.status === undefined || row.status === request.status)
      .filter((row) => request.worker_id === undefined || row.id === request.worker_id)
      .toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
    return {
      workers: rankBySearch(rows, request.search, (row) => ({ id: row.name, description: row.description ?? '' })),
      timestamp: Date.now(),
    };
  },
});

export function rowOf(session: Session, { registry }: EngineContext) {
  const ids = registry.ownedBy(session).map((fn) => fn.id);
  return workerRow(session, ids.toSorted());
}
