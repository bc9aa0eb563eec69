/** engine::calls::list: running and recent calls, without payloads. A watcher sends back `latest` as `since`. */
import { z } from 'zod';

import type { Call } from '../../calls/call.ts';
import { MAX_RECENT_CALLS, type EndedCall } from '../../calls/recent-calls.ts';
import { engine } from '../../worker.ts';

const MAX_RUNNING_SHOWN = 200;

const CallRow = z.object({
  id: z.string().describe('The id the worker knows the call by.'),
  function_id: z.string(),
  namespace: z.string().nullable().describe('Namespace of the function; null when the caller named an invalid one.'),
  caller: z.string().describe('Name of the caller: the MCP client, the token or the peer.'),
  principal: z.object({
    id: z.string(),
    kind: z.string().describe('operator, local, token, app, page or worker.'),
    client: z.object({ name: z.string(), version: z.string() }).nullable().describe('The program, as it names itself.'),
  }),
  via: z.string().nullable().describe('Id of the parent call.'),
  worker: z.string().nullable().describe('Name of the peer that serves it; null when there is none.'),
  started_at_ms: z.int().describe('Milliseconds since 1970.'),
  duration_ms: z.number().describe('From arrival at the engine to the end, or to now.'),
});

export const callsList = engine.defineFunction({
  id: 'engine::calls::list',
  summary: 'List the calls that run and those that ended lately, with callers, durations and outcomes.',
  details: `Calls that the engine answers itself are left out. The last ${MAX_RECENT_CALLS} that ended are kept here without payloads; engine::calls::get has those.`,
  effect: 'read',
  permissions: ['engine.read'],
  request: z.object({
    since: z.int().min(0).default(0).describe('Leave out calls up to this number; `latest` of the reply before.'),
  }),
  response: z.object({
    ended: z
      .array(CallRow.extend({ seq: z.int(), code: z.string().nullable().describe('null when it succeeded.') }))
      .describe('Oldest first.'),
    running: z.array(CallRow).describe(`The oldest ${MAX_RUNNING_SHOWN}.`),
    latest: z.int().describe('The number of the last call that ended.'),
  }),
  errors: ['deserialization_error'],
  examples: [{}],

  handle({ since }, { calls }) {
    const { recent } = calls.observed;
    return {
      ended: recent.after(since).map(endedRow),
      running: calls.running(MAX_RUNNING_SHOWN).map(runningRow),
      latest: recent.latest,
    };
  },
});

function endedRow(call: EndedCall) {
  const { seq, namespace = null, worker = null, durationMs, code = null } = call;
  return { seq, ...row(call), namespace, worker, duration_ms: durationMs, code };
}

function runningRow(call: Call) {
  const { namespace, executor, startTick } = call;
  return { ...row(call), namespace, worker: executor.label, duration_ms: performance.now() - startTick };
}

function row({
  id,
  functionId,
  principal,
  via,
  startedAtMs,
}: Pick<EndedCall, 'id' | 'functionId' | 'principal' | 'via' | 'startedAtMs'>) {
  const { id: principalId, kind, label, client = null } = principal;
  return {
    id,
    function_id: functionId,
    caller: label,
    principal: { id: principalId, kind, client },
    via: via ?? null,
    started_at_ms: startedAtMs,
  };
}
