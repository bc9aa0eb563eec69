/**
 * engine::calls::watch: starts or stops recording the content of calls, for the console.
 *
 * It applies to the connection that asks and ends with it, so a closed page cannot leave it on.
 */
import { z } from 'zod';

import { fail } from '../../errors.ts';
import { engine } from '../../worker.ts';

export const callsWatch = engine.defineFunction({
  id: 'engine::calls::watch',
  summary: 'Keep payloads and results of calls while this connection lasts; for the console only.',
  details: 'When the last connection stops watching, the kept content is dropped.',
  effect: 'write',
  permissions: ['engine.write'],
  request: z.object({ on: z.boolean().default(true).describe('false to stop before the connection ends.') }),
  response: z.object({
    watchers: z.int().describe('Connections that watch now.'),
    kept_bytes: z.int(),
    max_bytes: z.int().describe('Most bytes kept; the oldest calls are dropped first.'),
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
