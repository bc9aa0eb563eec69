/** engine::calls::list: what runs and what ended lately, without payloads. A watcher sends back `latest` as `since`. */
import { z } from 'zod';

import { MAX_RECENT_CALLS, type EndedCall } from '../../calls/recent-calls.ts';
import type { PendingCall } from '../../calls/pending-calls.ts';
import { engine } from '../../worker.ts';

const MAX_RUNNING_SHOWN = 200;

const CallRow = z.object({
  id: z.string().describe('The id the worker knows the call by.'),
  function_id: z.string(),
  namespace: z.string().nullable().describe('Where the function is; null when the caller named no possible place.'),
  caller: z.string().nullable().describe('Name of the peer that called; null when nobody waits for the answer.'),
  worker: z.string().nullable().describe('Name of the peer that serves it; null when there is none.'),
  started_at_ms: z.int().describe('Milliseconds since 1970.'),
  duration_ms: z.number().describe('From arrival at the engine to the end, or to now.'),
});

export const callsList = engine.defineFunction({
  id: 'engine::calls::list',
  summary: 'List the calls that run and those that ended lately, with callers, durations and outcomes.',
  details: `Calls that the engine answers itself are left out. The last ${MAX_RECENT_CALLS} that ended are kept here without payloads; engine::calls::get has those.`,
  effect: 'read',
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

  handle({ since }, { invocations }) {
    const { recent } = invocations;
    return {
      ended: recent.after(since).map(endedRow),
      running: invocations.running(MAX_RUNNING_SHOWN).map(runningRow),
      latest: recent.latest,
    };
  },
});

function endedRow(call: EndedCall) {
  const {
    seq,
    id,
    functionId,
    namespace = null,
    caller = null,
    worker = null,
    startedAtMs,
    durationMs,
    code = null,
  } = call;
  return {
    seq,
    id,
    function_id: functionId,
    namespace,
    caller,
    worker,
    started_at_ms: startedAtMs,
    duration_ms: durationMs,
    code,
  };
}

function runningRow({ id, functionId, caller, executor, startedAtMs, startTick }: PendingCall) {
  return {
    id,
    function_id: functionId,
    namespace: executor.namespace,
    caller: caller?.session.label ?? null,
    worker: executor.label,
    started_at_ms: startedAtMs,
    duration_ms: performance.now() - startTick,
  };
}
