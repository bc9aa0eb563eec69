/**
 * engine::calls::watch: the console says that it wants to see into calls, or no longer.
 *
 * It counts for the connection that asks and ends with it, so a page that was closed cannot leave it on.
 */
import { z } from 'zod';

import { fail } from '../../errors.ts';
import { engine } from '../../worker.ts';

export const callsWatch = engine.defineFunction({
  id: 'engine::calls::watch',
  summary: 'Keep payloads and results of calls while this connection lasts; for the console only.',
  details: 'When nobody watches any more, what was kept is forgotten.',
  effect: 'write',
  permissions: ['engine.write'],
  request: z.object({ on: z.boolean().default(true).describe('false to stop before the connection ends.') }),
  response: z.object({
    watchers: z.int().describe('Connections that watch now.'),
    kept_bytes: z.int(),
    max_bytes: z.int().describe('What may be kept; the oldest calls go first.'),
  }),
  errors: ['deserialization_error', 'console_only'],
  examples: [],

  handle({ on }, { sessions, calls: { observed } }, { call: { callerId } }) {
    const session = sessions.get(callerId ?? '');
    if (!session?.isOwnPage) throw fail('console_only', {});

    if (on) observed.contents.watch(session);
    else observed.contents.unwatch(session);
    return {
      watchers: observed.contents.watcherCount,
      kept_bytes: observed.contents.bytes,
      max_bytes: observed.contents.maxBytes,
    };
  },
});
