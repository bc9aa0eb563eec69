/** engine::callers::present: a door reports that the caller of this call came or went. */
import { z } from 'zod';

import { engine } from '../../worker.ts';

export const callersPresent = engine.defineFunction({
  id: 'engine::callers::present',
  summary: 'Report that the session of this caller opened or closed; for doors such as MCP.',
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
