/** engine::register_trigger: a binding that outlives the connection that made it. */
import { randomUUID } from 'node:crypto';

import { z } from 'zod';

import type { Principal } from '#contract';
import { KeptJsonSchema } from '#protocol';
import { withoutApproval } from '../session-principal.ts';
import { engine } from '../worker.ts';

export const registerTrigger = engine.defineFunction({
  id: 'engine::register_trigger',
  summary: 'Bind a trigger type to a function for as long as the engine runs.',
  effect: 'write',
  permissions: ['engine.write'],
  request: z.object({
    trigger_type: z.string().min(1).describe('The type to bind; it may appear later.'),
    function_id: z.string().min(1).describe('The function to call when it fires.'),
    config: KeptJsonSchema.optional().describe('Settings of the type.'),
    metadata: KeptJsonSchema.optional().describe('Handed to the function with every event.'),
    namespace: z.string().default('default').describe('Namespace of the function.'),
  }),
  response: z.object({ id: z.string() }),
  errors: ['trigger_registration_failed', 'limit_reached', 'deserialization_error', 'forbidden', 'channel_send_failed'],
  examples: [{ trigger_type: 'engine::workers-available', function_id: 'my::on-workers', config: {} }],

  async handle(request, { triggers, calls }, { call: { principal } }) {
    const binder = withoutApproval(principal as Principal);
    const failure = calls.rights.whyNotBind(binder, request.function_id, request.namespace);
    if (failure) throw failure;
    const id = randomUUID();
    await triggers.bindDurably({
      id,
      type: request.trigger_type,
      functionId: request.function_id,
      namespace: request.namespace,
      config: request.config ?? null,
      metadata: request.metadata,
      principal: binder,
    });
    return { id };
  },
});
