/** engine::calls::list: running and recent calls, without payloads. A watcher sends back `latest` as `since`. */
import { z } from 'zod';

import { callerKey } from '#contract';
import type { Call } from '../../calls/call.ts';
import { MAX_RECENT_CALLS, type EndedCall } from '../../calls/recent-calls.ts';
import { WaitingCalls } from '../../calls/waiting-calls.ts';
import { engine } from '../../worker.ts';

const MAX_RUNNING_SHOWN = 200;

const CallRow = z.object({
  id: z.string().describe('The id the worker knows the call by.'),
  function_id: z.string(),
  namespace: z.string().nullable().describe('Namespace of the function; null when the caller named an invalid one.'),
  caller: z.string().describe('Name of the caller: the MCP client, the token or the peer.'),
  caller_id: z.string().describe('Caller id from engine::callers::list.'),
  line: z
    .string()
    .nullable()
    .describe(
      'The path, command line or pattern of the call, as its function declares; null if it does not, and for all but the console.',
    ),
  principal: z.object({
    id: z.string(),
    kind: z.string().describe('operator, local, token, app, page or worker.'),
    client: z.object({ name: z.string(), version: z.string() }).nullable().describe('The program, as it names itself.'),
  }),
  via: z.string().nullable().describe('Id of the parent call.'),
  worker: z.string().nullable().describe('Name of the peer that serves it; null when there is none.'),
  node: z.string().nullable().describe('The other node of the cluster that runs it; null when it runs here.'),
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
      .array(
        CallRow.extend({
          seq: z.int(),
          code: z.string().nullable().describe('null when it succeeded.'),
          outcome: z.object({
            kind: z.enum(['ok', 'warning', 'failed', 'refused', 'cancelled']),
            text: z.string().describe('Such as `ok`, `exit 2`, `cut`, or the code of a failure.'),
          }),
          changed: z
            .object({ files: z.int(), added: z.int(), removed: z.int() })
            .nullable()
            .describe('Files and lines that it changed; null if it was not asked, which a console does.'),
        }),
      )
      .describe('Oldest first.'),
    running: z
      .array(CallRow.extend({ waits: z.boolean().describe('Whether it waits because its caller is paused.') }))
      .describe(`The oldest ${MAX_RUNNING_SHOWN}.`),
    latest: z.int().describe('The number of the last call that ended.'),
  }),
  errors: ['deserialization_error'],
  examples: [{}],

  handle({ since }, { sessions, calls }, { call: { callerId } }) {
    const { recent } = calls.observed;
    const shown = { hasLine: sessions.get(callerId ?? '')?.isOwnPage === true };
    return {
      ended: recent.after(since).map((call) => endedRow(call, shown)),
      running: calls.running(MAX_RUNNING_SHOWN).map((call) => runningRow(call, shown)),
      latest: recent.latest,
    };
  },
});

function endedRow(call: EndedCall, shown: Shown) {
  const { seq, namespace = null, worker = null, node = null, durationMs, code = null, outcome, changed = null } = call;
  return { seq, ...row(call, shown), namespace, worker, node, duration_ms: durationMs, code, outcome, changed };
}

function runningRow(call: Call, shown: Shown) {
  const { namespace, executor, startTick } = call;
  const waits = executor instanceof WaitingCalls;
  const duration_ms = performance.now() - startTick;
  const node = executor.node?.name ?? null;
  return { ...row(call, shown), namespace, worker: waits ? null : executor.label, node, duration_ms, waits };
}

/** A line is part of the payload, which only the console may read. */
interface Shown {
  hasLine: boolean;
}

type Listed = Pick<EndedCall, 'id' | 'functionId' | 'principal' | 'via' | 'startedAtMs' | 'line'>;

function row({ id, functionId, principal, via, startedAtMs, line }: Listed, { hasLine }: Shown) {
  const { id: principalId, kind, label, client = null } = principal;
  return {
    id,
    function_id: functionId,
    caller: label,
    caller_id: callerKey(principal),
    line: (hasLine && line) || null,
    principal: { id: principalId, kind, client },
    via: via ?? null,
    started_at_ms: startedAtMs,
  };
}
