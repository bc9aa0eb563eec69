/** The scope that a handler gets beside its request. */
import { expect, test } from 'vitest';
import { z } from 'zod';

import type { Caller } from '#protocol';
import { answer } from './answer.ts';
import { CallControl } from './answering/call-control.ts';
import type { Bus, CallOptions } from './bus.ts';
import type { CallScope } from './call-scope.ts';
import { defineErrors } from './define-errors.ts';
import { defineWorker } from './define-worker.ts';
import { silentLog } from './log.ts';

const errors = defineErrors({ E: { meaning: '', http: 400, message: (_: object) => 'no' } });
const refusal = () => errors.fail('E', {});
const worker = defineWorker({
  name: 'test',
  summary: '',
  config: z.strictObject({}),
  errors,
  failures: { badInput: refusal, internal: refusal, deadline: refusal },
  open: () => ({}),
});
const functionOf = (handle: (scope: CallScope) => unknown) =>
  worker.defineFunction({
    id: 'test::fn',
    summary: '',
    effect: 'read',
    permissions: [],
    request: z.object({}),
    response: z.unknown(),
    errors: [],
    examples: [],
    handle: (_, __, scope) => handle(scope),
  });

const principal: Caller = { id: 'local:http#3', kind: 'local', label: 'agent #3 (http)' };
const call = { callId: 'call-1', payload: {}, callerId: 'w', principal, via: 'call-0', traceparent: 't', baggage: 'b' };

/** Runs a handler; returns the calls that it made and the lines that it logged. */
async function run(handle: (scope: CallScope) => unknown, metadata?: unknown) {
  const made: [string, unknown, CallOptions][] = [];
  const logged: unknown[] = [];
  const bus = { call: (...given: [string, unknown, CallOptions]) => Promise.resolve(void made.push(given)) };
  const log = { ...silentLog, info: (...line: unknown[]) => void logged.push(line) };
  const around = { bus: bus as unknown as Bus, log, control: new CallControl() };
  const reply = await answer({ def: worker, context: {} }, functionOf(handle), { ...call, metadata }, around);
  return { reply, made, logged };
}

test('a handler and its log get the caller and the parent call', async () => {
  const { reply, logged } = await run((scope) => {
    scope.log.info('said', { n: 3 });
    return scope.call;
  });
  expect(reply).toEqual({ result: call });
  expect(logged).toEqual([['said', { n: 3, call: 'call-1', principal: 'local agent #3 (http)' }]]);
});

test('nested calls are made as its caller, with the trace and the metadata of the call', async () => {
  const { made } = await run(
    async ({ bus }) => {
      await bus.call('a::b', { n: 1 }, { timeoutMs: 5 });
      await bus.call('a::b', { n: 2 }, { metadata: 'own' });
    },
    { tenant: 'acme' },
  );
  const carried = { caller: principal, via: 'call-1', metadata: { tenant: 'acme' }, traceparent: 't', baggage: 'b' };
  expect(made).toEqual([
    ['a::b', { n: 1 }, { ...carried, timeoutMs: 5 }],
    ['a::b', { n: 2 }, { ...carried, metadata: 'own' }],
  ]);
});

test.each([
  [{ workcell_door: 'cli', tenant: 'acme' }, { tenant: 'acme' }],
  [{ workcell_door: 'cli' }, undefined],
])('nested calls do not carry the door of the call: %j', async (metadata, carried) => {
  const { made } = await run(({ bus }) => bus.call('a::b'), metadata);
  expect(made[0]![2].metadata).toEqual(carried);
});
