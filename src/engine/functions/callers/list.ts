/** engine::callers::list: the agents, programs and people that called lately, and which of them are paused. */
import { z } from 'zod';

import { callerKey } from '#contract';
import { WaitingCalls } from '../../calls/waiting-calls.ts';
import { engine } from '../../worker.ts';

const MAX_COUNTED = 10_000;

export const callersList = engine.defineFunction({
  id: 'engine::callers::list',
  summary: 'List the callers that the engine knows, with the running calls of each and whether it is paused.',
  details: 'In memory: callers since the server started, the last 500. Console pages are left out.',
  effect: 'read',
  permissions: ['engine.read'],
  request: z.object({}),
  response: z.object({
    callers: z
      .array(
        z.object({
          id: z.string(),
          label: z.string().describe('The MCP client with its session, the token or the peer.'),
          kind: z.string().describe('operator, local, token, app or worker.'),
          client: z.object({ name: z.string(), version: z.string() }).nullable(),
          here: z
            .boolean()
            .nullable()
            .describe('Whether its session is open; null where its surface does not report it.'),
          first_seen_ms: z.int().describe('Milliseconds since 1970.'),
          last_seen_ms: z.int(),
          calls: z.int().describe('Calls that it made, without those made for them.'),
          running: z.int(),
          waiting: z.int().describe('Calls that wait because it is paused.'),
          paused: z.boolean(),
        }),
      )
      .describe('The one that called last first.'),
  }),
  errors: ['deserialization_error'],
  examples: [{}],

  handle(_, { calls, sessions }) {
    const open = calls.running(MAX_COUNTED).filter(({ via }) => via === undefined);
    const count = (key: string, isWaiting: boolean) =>
      open.filter((call) => callerKey(call.principal) === key && call.executor instanceof WaitingCalls === isWaiting)
        .length;
    const callers = calls.callers.list().map((known) => ({
      id: known.key,
      label: known.principal.label,
      kind: known.principal.kind,
      client: known.principal.client ?? null,
      here: known.isHere ?? null,
      first_seen_ms: known.firstSeenMs,
      last_seen_ms: known.lastSeenMs,
      calls: known.calls,
      running: count(known.key, false),
      waiting: count(known.key, true),
      paused: calls.callers.pausing(known.key, sessions.values()).length > 0,
    }));
    return { callers: callers.toReversed() };
  },
});
