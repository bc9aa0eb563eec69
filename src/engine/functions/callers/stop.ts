/** engine::callers::stop: ends every call of one caller; for the console. */
import { z } from 'zod';

import { byPerson } from '../../calls/by-person.ts';
import { engine } from '../../worker.ts';

export const callersStop = engine.defineFunction({
  id: 'engine::callers::stop',
  summary: 'End all calls of a caller, those that wait too; for the console only.',
  details: 'Its background jobs and sandboxes have ends of their own: their lists name the caller of each.',
  effect: 'execute',
  permissions: ['engine.write'],
  request: z.object({ id: z.string().max(512).describe('Caller id from engine::callers::list.') }),
  response: z.object({ cancelled: z.int().describe('Calls that were ended.') }),
  errors: ['deserialization_error', 'console_only', 'NOT_FOUND'],
  examples: [],

  handle: ({ id }, { sessions, calls }, scope) => ({ cancelled: calls.control.stop(id, byPerson(sessions, scope)) }),
});
