/** engine::callers::present: a surface reports that the caller of this call connected or disconnected. */
import { z } from 'zod';

import { engine } from '../../worker.ts';

export const callersPresent = engine.defineFunction({
  id: 'engine::callers::present',
  summary: 'Report that the session of this caller opened or closed; for surfaces such as MCP.',
  effect: 'write',
  permissions: ['engine.write'],
  request: z.object({ here: z.boolean() }),
  response: z.object({}),
  errors: ['deserialization_error'],
  examples: [],

  handle({ here }, { calls, watched }, { call: { principal } }) {
    if (principal) calls.callers.present(principal, here);
    watched.changed('callers');
    return {};
  },
});
