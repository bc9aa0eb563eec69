/** engine::callers::pause: lets the calls of one caller wait until it is resumed; for the console. */
import { z } from 'zod';

import { byPerson } from '../../calls/by-person.ts';
import { engine } from '../../worker.ts';

export const callersPause = engine.defineFunction({
  id: 'engine::callers::pause',
  summary: 'Pause new calls of a caller, or resume them; for the console only.',
  details:
    'Running calls continue. Waiting calls start when the caller is resumed, in their order, unless their own timeout ends ' +
    'them before. A program that connects again is another caller.',
  effect: 'write',
  permissions: ['engine.write'],
  request: z.object({
    id: z.string().max(512).describe('Caller id from engine::callers::list.'),
    on: z.boolean().default(true).describe('false to resume.'),
  }),
  response: z.object({ paused: z.boolean() }),
  errors: ['deserialization_error', 'console_only', 'NOT_FOUND'],
  examples: [],

  handle({ id, on }, { sessions, calls }, scope) {
    const person = byPerson(sessions, scope);
    if (on) calls.control.pause(id, person);
    else calls.control.resume(id, person, sessions.values());
    return { paused: on };
  },
});
