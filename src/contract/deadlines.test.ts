import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { Deadlines } from './deadlines.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('each is due its time after it was started, and by one timer', async () => {
  const deadlines = new Deadlines(100);
  const expired: string[] = [];
  const start = (name: string) => deadlines.start(() => expired.push(name));
  start('a');
  await vi.advanceTimersByTimeAsync(40);
  const b = start('b');
  start('c');
  await vi.advanceTimersByTimeAsync(30);
  start('d');
  expect(vi.getTimerCount()).toBe(1);
  await vi.advanceTimersByTimeAsync(29);
  expect(expired).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(expired).toEqual(['a']);
  b.done();
  await vi.advanceTimersByTimeAsync(40);
  expect(expired).toEqual(['a', 'c']);
  await vi.advanceTimersByTimeAsync(30);
  expect(expired).toEqual(['a', 'c', 'd']);
  expect(vi.getTimerCount()).toBe(0);
});

test('what is started when all others are done has its whole time', async () => {
  const deadlines = new Deadlines(100);
  let isExpired = false;
  deadlines.start(() => {}).done();
  await vi.advanceTimersByTimeAsync(99);
  deadlines.start(() => (isExpired = true));
  await vi.advanceTimersByTimeAsync(99);
  expect(isExpired).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(isExpired).toBe(true);
});
