import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import type { CallEvent } from '#protocol';
import type { CallScope } from './call-scope.ts';
import { Watched } from './watched.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function watch(watched: Watched, left = new AbortController()) {
  const heard: CallEvent[] = [];
  const scope = { emit: (event: CallEvent) => heard.push(event), signal: left.signal };
  return { heard, left, over: watched.report(scope as unknown as CallScope) };
}

test('each watcher gets what changed once, gathered, and nothing after it left', async () => {
  const watched = new Watched();
  const [one, two] = [watch(watched), watch(watched)];
  for (const what of ['a', 'b', 'a']) watched.changed(what);
  expect([one.heard, vi.getTimerCount()]).toEqual([[], 1]);
  vi.advanceTimersByTime(100);
  one.left.abort();
  expect(await one.over).toEqual({});
  watched.changed('c');
  vi.advanceTimersByTime(100);
  const first = { type: 'changed', what: ['a', 'b'] };
  expect([one.heard, two.heard]).toEqual([[first], [first, { type: 'changed', what: ['c'] }]]);
});

test('nothing is gathered while nobody watches', async () => {
  const watched = new Watched();
  watched.changed('before');
  expect(vi.getTimerCount()).toBe(0);
  const { left, over } = watch(watched);
  left.abort();
  await over;
  watched.changed('after');
  expect(vi.getTimerCount()).toBe(0);
});

test('a caller that left before the watch began is not waited for', async () => {
  const left = new AbortController();
  left.abort();
  expect(await watch(new Watched(), left).over).toEqual({});
});
