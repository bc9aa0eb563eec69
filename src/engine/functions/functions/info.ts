/** engine::functions::info: one function, or up to 32, in detail. */
import { z } from 'zod';

import { Failure } from '#contract';
import type { EngineContext } from '../../worker.ts';
import { fail } from '../../errors.ts';
import { functionRow, pendingMark } from '../../list-rows.ts';
import { engine } from '../../worker.ts';
import { PendingSchema } from '../registered-triggers/list.ts';

const MAX_BATCH = 32;

const detail = z.object({
  function_id: z.string(),
  namespace: z.string(),
  worker_name: z.string(),
  description: z.string().nullable(),
  request_schema: z.unknown().optional(),
  response_schema: z.unknown().optional(),
  metadata: z.unknown().optional(),
  registered_triggers: z.array(
    z.object({ id: z.string(), trigger_type: z.string(), config: z.unknown(), pending: PendingSchema }),
  ),
});
const missing = z.object({ function_id: z.string(), error: z.literal('not_found') });

export const functionsInfo = engine.defineFunction({
  id: 'engine::functions::info',
  summary: 'Describe one function, or several, with schemas and bound triggers.',
  effect: 'read',
  permissions: ['engine.read'],
  request: z.object({
    function_id: z.string().optional().describe('The one function to describe.'),
    function_ids: z.array(z.string()).max(MAX_BATCH).optional().describe('Or up to 32 of them.'),
    namespace: z.string().default('default').describe('Namespace of the ids.'),
  }),
  response: z.union([detail, z.object({ functions: z.array(z.union([detail, missing])) })]),
  errors: ['NOT_FOUND', 'INVALID_ARGUMENTS', 'deserialization_error'],
  examples: [{ function_id: 'engine::functions::list' }],

  handle({ function_id, function_ids, namespace }, context) {
    if ((function_id === undefined) === (function_ids === undefined)) {
      throw fail('INVALID_ARGUMENTS', { text: 'give exactly one of function_id and function_ids' });
    }
    if (function_id !== undefined) {
      const found = describe(function_id, namespace, context);
      if (!found) throw fail('NOT_FOUND', { text: `Function '${function_id}' is not registered.` });
      return found;
    }
    const functions = (function_ids ?? []).map(
      (id) => describe(id, namespace, context) ?? { function_id: id, error: 'not_found' as const },
    );
    return { functions };
  },
});

export function describe(
  id: string,
  namespace: string,
  { registry, triggers }: EngineContext,
): z.input<typeof detail> | undefined {
  const fn = registry.resolve(id, namespace);
  if (!fn || fn instanceof Failure) return undefined;

  const { request_format, response_format, ...row } = functionRow(fn);
  const bound = [...triggers.bindings.values()].filter(
    (trigger) => trigger.functionId === id && trigger.namespace === namespace,
  );
  return {
    ...row,
    request_schema: request_format,
    response_schema: response_format,
    registered_triggers: bound.map((trigger) => ({
      id: trigger.id,
      trigger_type: trigger.type,
      config: trigger.config,
      ...pendingMark(trigger),
    })),
  };
}
