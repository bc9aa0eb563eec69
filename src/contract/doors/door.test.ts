/** Additions to the contract for calls through a door. */
import { expect, test } from 'vitest';
import { z } from 'zod';

import { answer } from '../answer.ts';
import { CallControl } from '../answering/call-control.ts';
import type { Bus } from '../bus.ts';
import { defineErrors } from '../define-errors.ts';
import type { FunctionDef } from '../define-function.ts';
import { defineWorker } from '../define-worker.ts';
import { throughDoor, type Door } from './door.ts';
import { silentLog } from '../log.ts';

const { fail, ...errors } = defineErrors({
  BAD: { meaning: '', http: 400, message: (d: { problem: string }) => d.problem },
});
const refusal = (problem: unknown) => fail('BAD', { problem: String(problem) });
const worker = defineWorker({
  name: 'test',
  summary: '',
  config: z.strictObject({}),
  errors: { fail, ...errors },
  failures: { badInput: refusal, internal: refusal, deadline: refusal },
  open: () => ({}),
});

const echo: FunctionDef<object> = {
  id: 'test::fn',
  summary: '',
  effect: 'read',
  permissions: [],
  request: z.object({ name: z.string().default('you'), n: z.int().optional() }),
  response: z.unknown(),
  errors: [],
  examples: [],
  handle: (parsed, _, { door }) => ({ parsed, door }),
};

const through = (metadata: unknown, payload: unknown, fn = echo) =>
  answer(
    { def: worker, context: {} },
    fn,
    { callId: 'call-1', payload, metadata },
    { bus: {} as Bus, log: silentLog, control: new CallControl() },
  );

test.each(['model', 'http', 'cli'] as const)(
  '%s refuses an unknown field and is passed to the handler',
  async (door) => {
    const message = 'unknown field `nmae` (did you mean `name`?); the fields are name, n';
    const { error } = (await through(throughDoor(door), { nmae: 'x' })) as { error: { message: string } };
    expect(error.message).toBe(JSON.stringify({ code: 'BAD', message }));
    expect(await through(throughDoor(door), { name: 'x', _meta: 1 })).toEqual({
      result: { parsed: { name: 'x' }, door },
    });
  },
);

test.each([undefined, null, 'model', { workcell_door: 'window' }, { other: 1 }])(
  'metadata %j is not a door: unknown fields are dropped as the contract has it',
  async (metadata) => {
    expect(await through(metadata, { nmae: 'x' })).toEqual({ result: { parsed: { name: 'you' }, door: undefined } });
  },
);

test('a model has its own defaults, and may say otherwise', async () => {
  const fn = { ...echo, modelDefaults: { n: 7 } };
  const parsedFor = async (door: Door, payload?: unknown) => {
    const reply = await through(throughDoor(door), payload, fn);
    return 'result' in reply && (reply.result as { parsed: unknown }).parsed;
  };
  expect(await parsedFor('model')).toEqual({ name: 'you', n: 7 });
  expect(await parsedFor('model', { n: 1 })).toEqual({ name: 'you', n: 1 });
  expect(await parsedFor('http', {})).toEqual({ name: 'you' });
});
