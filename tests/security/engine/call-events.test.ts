/** Peers that report events of calls of other peers, and a peer that reports more than its caller reads. */
import { randomUUID } from 'node:crypto';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { connect, type Connection } from '#client';
import type { CallEvent } from '#contract';
import { startEngine, type TestEngine } from '#testing';
import { Peer, type AnyFrame } from './peer-socket.ts';

let engine: TestEngine;
let caller: Connection;
/** Answers when the test releases it. */
let worker: Peer;
beforeAll(async () => {
  engine = await startEngine();
  caller = await connect(engine.url, { name: 'caller' });
  worker = await Peer.dial(engine.url);
  await worker.call('engine::workers::register', { name: 'worker', pid: 1, features: ['events'] });
  await worker.register('worker::work');
});
afterAll(async () => {
  caller.close();
  worker[Symbol.dispose]();
  await engine[Symbol.asyncDispose]();
});

async function begin(): Promise<{ heard: CallEvent[]; answer: Promise<unknown>; id: string }> {
  const heard: CallEvent[] = [];
  const answer = caller.call('worker::work', {}, { onEvent: (event) => heard.push(event), timeoutMs: 60_000 });
  const { invocation_id: id } = await worker.next((frame) => frame.function_id === 'worker::work');
  return { heard, answer, id };
}

const event = (id: string, seq: number, what: unknown = { type: 'true' }): AnyFrame => ({
  ...{ type: 'invocationevent', invocation_id: id, seq, event: what },
});

test('1,000 forged events: of a call of others, of no call, of one that has ended, and of the wrong form', async () => {
  using forger = await Peer.dial(engine.url);
  const { heard, answer, id } = await begin();
  const over = await begin();
  worker.send({ type: 'invocationresult', invocation_id: over.id, result: 1 });
  await over.answer;
  const forms = [
    event(id, 1, { type: 'forged' }),
    event(randomUUID(), 1, { type: 'forged' }),
    event(over.id, 1, { type: 'forged' }),
    { ...event(id, 1, { type: 'forged' }), caller: { id: 'operator', kind: 'operator', label: 'operator' } },
  ];
  for (let round = 0; round < 200; round++) for (const form of forms) forger.send(form);
  const wrong = [
    event(id, -1),
    event(id, 1.5),
    event(id, 1, 'text'),
    event(id, 1, { message: 'no type' }),
    event(id, 1, null),
    event(over.id, 1),
    { type: 'invocationevent', invocation_id: id, seq: 1 },
    { type: 'invocationevent', event: { type: 'x' }, seq: 1 },
    event(id, 1, { type: 'large', text: 'x'.repeat(300_000) }),
    event('', 1),
  ];
  for (let round = 0; round < 20; round++) for (const form of wrong) worker.send(form);
  await forger.settled();
  await worker.settled();
  worker.send(event(id, 7));
  worker.send({ type: 'invocationresult', invocation_id: id, result: 2 });
  expect(await answer).toBe(2);
  expect(heard).toEqual([{ type: 'true' }]);
  expect(over.heard).toEqual([]);
});

test('a caller that does not read misses events, and gets its answer', async () => {
  using slow = await Peer.dial(engine.url);
  const id = randomUUID();
  const total = 500;
  slow.send({ type: 'invokefunction', invocation_id: id, function_id: 'worker::work', data: {}, wants_events: true });
  await worker.next((frame) => frame.invocation_id === id);
  slow.socket.pause();
  const text = 'x'.repeat(100_000);
  for (let seq = 1; seq <= total; seq++) worker.send(event(id, seq, { type: 'piece', text }));
  await worker.settled();
  worker.send({ type: 'invocationresult', invocation_id: id, result: 'done' });
  await worker.settled();
  slow.socket.resume();
  const { result } = await slow.next((frame) => frame.type === 'invocationresult', 30_000);
  const heard = slow.frames.filter((frame) => frame.type === 'invocationevent').map(({ seq }) => seq as number);
  expect(result).toBe('done');
  // The system buffers some; the engine's own buffer is bounded.
  expect(heard.length).toBeGreaterThan(0);
  expect(heard.length).toBeLessThan(total / 2);
  expect(heard).toEqual(heard.toSorted((a, b) => a - b));
});

test('changes that no schema takes, a million in all, do not keep the answer from the caller', async () => {
  const wrong = (count: number) => new Array<number>(count).fill(0);
  const reported: unknown[] = [];
  for (const changes of [
    [{ path: 'a', kind: 'modified', hunks: wrong(500_000) }],
    [{ path: 'a', kind: 'modified', hunks: [{ before_line: 1, after_line: 1, lines: wrong(250_000) }] }],
    wrong(250_000),
  ]) {
    const answer = caller.call('worker::work', {}, { onChanges: (seen) => reported.push(seen) });
    const { invocation_id } = await worker.next((frame) => frame.function_id === 'worker::work');
    worker.send({ type: 'invocationresult', invocation_id, result: 'done', changes });
    expect(await answer).toBe('done');
  }
  expect(reported).toEqual([[], [], []]);
});
