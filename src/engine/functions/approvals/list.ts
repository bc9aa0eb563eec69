/** engine::approvals::list: the calls that wait for a person. */
import { z } from 'zod';

import { byPerson } from '../../calls/by-person.ts';
import { clipJson } from '../../calls/clip-json.ts';
import { engine } from '../../worker.ts';

export const approvalsList = engine.defineFunction({
  id: 'engine::approvals::list',
  summary: 'List the calls that wait for approval; for people only.',
  effect: 'read',
  permissions: ['engine.read'],
  request: z.object({}),
  response: z.object({
    approvals: z
      .array(
        z.object({
          id: z.string().describe('Call id; pass it to engine::approvals::answer.'),
          function_id: z.string(),
          namespace: z.string(),
          caller: z.object({ id: z.string(), kind: z.string(), label: z.string() }),
          line: z.string().nullable().describe('The path, command line or pattern of the call.'),
          payload: z.unknown().describe('Shortened if large, secrets masked.'),
          rule: z.string(),
          reason: z.string().nullable(),
          asked_at_ms: z.int().describe('Milliseconds since 1970.'),
          until_ms: z.int().describe('Time of the automatic denial, in milliseconds since 1970.'),
        }),
      )
      .describe('Oldest first.'),
  }),
  errors: ['deserialization_error', 'console_only'],
  examples: [],

  handle(_, { sessions, calls }, scope) {
    byPerson(sessions, scope);
    const approvals = calls.approvals.list().map(({ call, decision, payload, askedAtMs, untilMs }) => ({
      id: call.id,
      function_id: call.functionId,
      namespace: call.namespace,
      caller: { id: call.principal.id, kind: call.principal.kind, label: call.principal.label },
      line: call.line ?? null,
      payload: JSON.parse(clipJson(payload).json.toString()) as unknown,
      rule: decision.rule,
      reason: decision.reason ?? null,
      asked_at_ms: askedAtMs,
      until_ms: untilMs,
    }));
    return { approvals };
  },
});
