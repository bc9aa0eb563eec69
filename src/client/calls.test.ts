import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { CallError } from '#contract';
import { Calls } from './calls.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function setup() {
  const givenUp: string[] = [];
  const asked: string[] = [];
  return {
    calls: new Calls({ cancel: (id, options) => (options?.wait ? asked : givenUp).push(id), answer: () => {} }),
    givenUp,
    asked,
  };
}

const settle = (calls: Calls, invocation_id: string, outcome: object) =>
  calls.settle({ type: 'invocationresult', invocation_id, ...outcome });

test('a call is one frame with only the options that were given', () => {
  const { calls } = setup();
  const plain = calls.open('a::b', { x: 1 }, {});
  expect(plain.frame).toEqual({
    type: 'invokefunction',
    invocation_id: expect.any(String),
    function_id: 'a::b',
    data: { x: 1 },
  });
  const options = { namespace: 'n', metadata: { m: 1 }, traceparent: '00-1', baggage: 'k=v' };
  const full = calls.open('a::b', null, options);
  expect(full.frame).toMatchObject({ data: null, ...options });
  expect(full.frame.invocation_id).not.toBe(plain.frame.invocation_id);
  calls.failAll('x', 'over');
  return Promise.allSettled([plain.answer, full.answer]);
});

test.each([
  ['a result', { result: { ok: true } }, { ok: true }],
  ['null', { result: null }, null],
  ['nothing, which is how null is sent,', {}, null],
  ['a result with error: null', { result: 1, error: null }, 1],
])('%s is the answer', async (_, outcome, expected) => {
  const { calls, givenUp } = setup();
  const { frame, answer } = calls.open('f', {}, {});
  settle(calls, frame.invocation_id!, outcome);
  expect(await answer).toEqual(expected);
  expect([givenUp, vi.getTimerCount(), calls.isWaiting(frame.invocation_id!)]).toEqual([[], 0, false]);
});

test('throws with the code of the failure inside the error, and keeps its body', async () => {
  const { calls } = setup();
  const { frame, answer } = calls.open('coder::read-file', {}, {});
  const error = {
    code: 'invocation_failed',
    message: 'handler error: {"code":"C211","message":"gone","fix":{"path":"b"}}',
  };
  settle(calls, frame.invocation_id!, { error });
  const thrown = await answer.catch((reason: unknown) => reason);
  expect(thrown).toBeInstanceOf(CallError);
  expect(thrown).toMatchObject({
    code: 'C211',
    message: 'gone',
    extra: { fix: { path: 'b' } },
    functionId: 'coder::read-file',
    body: error,
  });
});

test('the first answer is used; unknown and repeated ones are ignored', async () => {
  const { calls } = setup();
  const { frame, answer } = calls.open('f', {}, {});
  settle(calls, 'unknown', { result: 'x' });
  settle(calls, frame.invocation_id!, { result: 1 });
  settle(calls, frame.invocation_id!, { error: { code: 'late', message: '' } });
  expect(await answer).toBe(1);
});

test.each([
  [undefined, 30_000],
  [250, 250],
])('with timeoutMs %j the call times out after %i ms', async (timeoutMs, atMs) => {
  const { calls, givenUp } = setup();
  const { frame, answer } = calls.open('f', {}, { timeoutMs });
  const failure = answer.catch((reason: unknown) => reason);
  vi.advanceTimersByTime(atMs - 1);
  expect(calls.isWaiting(frame.invocation_id!)).toBe(true);
  vi.advanceTimersByTime(1);
  expect(await failure).toMatchObject({ code: 'TIMEOUT', message: `invocation timed out after ${atMs}ms` });
  expect(givenUp).toEqual([frame.invocation_id]);
});

test.each([Infinity, Number.MAX_SAFE_INTEGER, 2 ** 31])(
  'a timeout of %d does not overflow the timer',
  async (timeoutMs) => {
    const { calls } = setup();
    const { frame, answer } = calls.open('f', {}, { timeoutMs });
    vi.advanceTimersByTime(86_400_000);
    settle(calls, frame.invocation_id!, { result: 'a day later' });
    expect(await answer).toBe('a day later');
  },
);

test('aborting the signal cancels the call, also if it was aborted before', async () => {
  const { calls, givenUp } = setup();
  const controller = new AbortController();
  const running = calls.open('f', {}, { signal: controller.signal });
  controller.abort();
  const late = calls.open('f', {}, { signal: controller.signal });
  const cancelled = { code: 'CANCELLED', message: 'the caller stopped waiting' };
  await expect(running.answer).rejects.toMatchObject(cancelled);
  await expect(late.answer).rejects.toMatchObject(cancelled);
  expect(givenUp).toEqual([running.frame.invocation_id, late.frame.invocation_id]);
  expect(vi.getTimerCount()).toBe(0);
});

test('a call that is asked to stop still waits for its answer', async () => {
  const { calls, givenUp, asked } = setup();
  const controller = new AbortController();
  const running = calls.open('f', {}, { cancel: controller.signal });
  controller.abort();
  const late = calls.open('f', {}, { cancel: controller.signal });
  await Promise.resolve();
  const ids = [running, late].map(({ frame }) => frame.invocation_id!);
  expect([asked, givenUp]).toEqual([ids, []]);
  for (const id of ids) settle(calls, id, { result: 'stopped' });
  expect(await Promise.all([running.answer, late.answer])).toEqual(['stopped', 'stopped']);
  expect(vi.getTimerCount()).toBe(0);
});

test('an answered call no longer listens to its signal', async () => {
  const { calls, givenUp } = setup();
  const controller = new AbortController();
  const { frame, answer } = calls.open('f', {}, { signal: controller.signal });
  settle(calls, frame.invocation_id!, { result: 1 });
  await answer;
  controller.abort();
  expect(givenUp).toEqual([]);
});

test('a lost connection fails every call at once, with the reason', async () => {
  const { calls, givenUp } = setup();
  const answers = ['a', 'b'].map((id) => calls.open(id, {}, {}).answer);
  calls.failAll('connection_lost', 'gone');
  const reasons = (await Promise.allSettled(answers)).map((outcome) => outcome.status === 'rejected' && outcome.reason);
  expect(reasons).toMatchObject([
    { functionId: 'a', code: 'connection_lost', message: 'gone' },
    { functionId: 'b', code: 'connection_lost', message: 'gone' },
  ]);
  expect([givenUp, vi.getTimerCount()]).toEqual([[], 0]);
});

test('a callback that throws fails and abandons its own call', async () => {
  const { calls, givenUp } = setup();
  const broken = new Error('broken callback');
  const throwing = () => {
    throw broken;
  };
  const hearing = calls.open('f', {}, { onEvent: throwing });
  const event = { type: 'invocationevent', invocation_id: hearing.frame.invocation_id!, seq: 1 } as const;
  calls.event({ ...event, event: { type: 'step' } });
  await expect(hearing.answer).rejects.toBe(broken);
  expect([givenUp, vi.getTimerCount()]).toEqual([[hearing.frame.invocation_id], 0]);

  const changing = calls.open('f', {}, { onChanges: throwing });
  settle(calls, changing.frame.invocation_id!, { result: 1, changes: [] });
  await expect(changing.answer).rejects.toBe(broken);
});
