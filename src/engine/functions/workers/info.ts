/** engine::workers::info: one worker by name, with its functions. */
import { z } from 'zod';

import { fail } from '../../errors.ts';
import { functionRow, isInternal, triggerRow, triggerTypeRow } from '../../list-rows.ts';
import { engine } from '../../worker.ts';
import { FunctionRowSchema } from '../functions/list.ts';
import { rowOf, WorkerRowSchema } from './list.ts';

export const workersInfo = engine.defineFunction({
  id: 'engine::workers::info',
  summary: 'Describe one connected worker: functions, trigger types and triggers.',
  effect: 'read',
  permissions: ['engine.read'],
  request: z.object({ name: z.string().describe('Name or connection id of the worker.') }),
  response: z.object({
    worker: WorkerRowSchema.extend({ internal: z.boolean() }),
    functions: z.array(FunctionRowSchema),
    trigger_types: z.array(z.unknown()),
    registered_triggers: z.array(z.unknown()),
  }),
  errors: ['NOT_FOUND', 'deserialization_error'],
  examples: [{ name: 'coder' }],

  handle({ name }, context) {
    const session = [...context.sessions.values()].find((peer) => peer.info?.name === name || peer.workerId === name);
    if (!session) throw fail('NOT_FOUND', { text: `Worker '${name}' is not connected.` });

    const functions = context.registry.ownedBy(session);
    const types = [...context.triggers.types.values()].filter((type) => type.provider === session);
    const bound = [...context.triggers.bindings.values()].filter((trigger) => trigger.binder === session);
    return {
      worker: { ...rowOf(session, context), internal: functions.every((fn) => isInternal(fn.id, fn.metadata)) },
      functions: functions.map(functionRow),
      trigger_types: types.map(triggerTypeRow),
      registered_triggers: bound.map(triggerRow),
    };
  },
});
