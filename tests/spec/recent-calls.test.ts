import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';

import { connect, type Connection } from '#client';
import { startEngine, type TestEngine } from '#testing';
import { errors, worker } from './test-worker.ts';

const fn = (id: string, handle: () => unknown) =>
  worker.defineFunction({
    id,
    summary: id,
    effect: 'read',
    permissions: [],
    request: z.unknown(),
    response: z.unknown(),
    errors: ['D1'],
    examples: [],
    handle,
  });
let release = () => {};
const digger = worker.withFunctions([
  fn('digger::dig', () => 'done'),
  fn('digger::fall', () => {
    throw errors.fail('D1', {});
  }),
  fn('digger::stay', () => new Promise<void>((resolve) => (release = resolve))),
]);

let running: TestEngine;
let serving: Connection;
let bus: Connection;
beforeEach(async () => {
  running = await startEngine();
  serving = await connect(running.url, { name: 'digger' });
  serving.serve({ def: digger, context: {} });
  bus = await connect(running.url, { name: 'caller-1' });
  await expect.poll(() => bus.call('engine::functions::list').then(JSON.stringify)).toContain('digger::stay');
});
afterEach(async () => {
  bus.close();
  serving.close();
  await running[Symbol.asyncDispose]();
});

interface Listed {
  ended: { function_id: string; namespace: string; code: string | null; duration_ms: number; started_at_ms: number }[];
  running: { function_id: string; namespace: string }[];
  latest: number;
}
const list = (since = 0) => bus.call('engine::calls::list', { since }) as Promise<Listed>;

test('mcp.P5 lists caller, function, duration and outcome, without what the engine answers itself', async () => {
  const before = Date.now();
  await bus.call('digger::dig', { secret: 'payload' });
  await bus.call('digger::fall').catch(() => {});
  await bus.call('digger::none').catch(() => {});

  const listed = await list();
  const row = {
    id: expect.any(String),
    caller: 'caller-1',
    caller_id: expect.stringMatching(/^local:.* caller-1$/),
    line: null,
    changed: null,
    principal: { id: expect.stringMatching(/^local:/), kind: 'local', client: { name: 'caller-1', version: '' } },
    via: null,
    node: null,
    namespace: 'default',
    started_at_ms: expect.any(Number),
  };
  const took = expect.any(Number);
  const ended = (text: string) =>
    text === 'ok' ? { code: null, outcome: { kind: 'ok', text } } : { code: text, outcome: { kind: 'failed', text } };
  expect(listed).toEqual({
    ended: [
      { ...row, seq: 1, function_id: 'digger::dig', worker: 'digger', duration_ms: took, ...ended('ok') },
      { ...row, seq: 2, function_id: 'digger::fall', worker: 'digger', duration_ms: took, ...ended('D1') },
      { ...row, seq: 3, function_id: 'digger::none', worker: null, duration_ms: 0, ...ended('function_not_found') },
    ],
    running: [],
    latest: 3,
  });
  expect(listed.ended.every((call) => call.started_at_ms >= before && call.started_at_ms <= Date.now())).toBe(true);
  expect(listed.ended[0]!.duration_ms).toBeGreaterThan(0);
  expect((await list(2)).ended.map(({ function_id }) => function_id)).toEqual(['digger::none']);
});

test('of two workers with the same functions the list names the called one, by their namespaces', async () => {
  const lab = await connect(running.url, { name: 'digger', namespace: 'lab' });
  lab.serve({ def: digger, context: {} });
  const inLab = { namespace: 'lab' };
  await expect.poll(() => bus.call('digger::dig', {}, inLab).catch(() => 'not yet')).toBe('done');
  const { latest } = await list();

  await bus.call('digger::dig');
  await bus.call('digger::dig', {}, inLab);
  await bus.call('digger::none', {}, inLab).catch(() => {});
  const staying = bus.call('digger::stay', {}, inLab);
  await expect.poll(async () => (await list()).running.map(({ namespace }) => namespace)).toEqual(['lab']);
  expect((await list(latest)).ended.map(({ namespace }) => namespace)).toEqual(['default', 'lab', 'lab']);
  release();
  await staying;
  lab.close();
});

test('mcp.P5 a call that runs is listed as such until it ends', async () => {
  const staying = bus.call('digger::stay');
  await expect.poll(async () => (await list()).running.map(({ function_id }) => function_id)).toEqual(['digger::stay']);
  expect((await list()).ended).toEqual([]);

  release();
  await staying;
  const { ended, running: left } = await list();
  expect([ended.map(({ code }) => code), left]).toEqual([[null], []]);
});

test('a call that its caller cancelled, and one whose worker left, say so', async () => {
  const control = new AbortController();
  const givenUp = bus.call('digger::stay', {}, { signal: control.signal }).catch(() => {});
  await expect.poll(async () => (await list()).running.length).toBe(1);
  control.abort();
  await givenUp;
  await expect.poll(async () => (await list()).ended.map(({ code }) => code)).toEqual(['CANCELLED']);

  const orphaned = bus.call('digger::stay').catch(() => {});
  await expect.poll(async () => (await list()).running.length).toBe(1);
  serving.close();
  await orphaned;
  expect((await list()).ended.map(({ code }) => code)).toEqual(['CANCELLED', 'invocation_stopped']);
});
