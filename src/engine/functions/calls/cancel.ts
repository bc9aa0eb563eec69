/** engine::calls::cancel: ends a call that runs, and the calls made for it; for the console. */
import { z } from 'zod';

import { byPerson } from '../../calls/by-person.ts';
import { engine } from '../../worker.ts';

export const callsCancel = engine.defineFunction({
  id: 'engine::calls::cancel',
  summary: 'End a call that runs and the calls that were made for it; for the console only.',
  details:
    'Its caller gets the error CANCELLED. A worker that cannot cancel finishes its work, and its answer is dropped.',
  effect: 'execute',
  permissions: ['engine.write'],
  request: z.object({ id: z.string().max(512).describe('The id of the call, as engine::calls::list gives it.') }),
  response: z.object({ cancelled: z.int().describe('Calls that were ended.') }),
  errors: ['deserialization_error', 'console_only', 'NOT_FOUND'],
  examples: [],

  handle: ({ id }, { sessions, calls }, scope) => ({ cancelled: calls.control.cancel(id, byPerson(sessions, scope)) }),
});
