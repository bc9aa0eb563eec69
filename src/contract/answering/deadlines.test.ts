import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { Deadlines } from './deadlines.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('each deadline expires its timeout after its start, and all share one timer', async () => {
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

test('a deadline started after all others are done gets its whole timeout', async () => {
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

test('an expired deadline may start another one on the same timer', async () => {
  const deadlines = new Deadlines(100);
  let count = 0;
  const again = () => {
    count++;
    deadlines.start(again);
  };
  deadlines.start(again);
  deadlines.start(() => {});
  await vi.advanceTimersByTimeAsync(500);
  expect(count).toBe(5);
  expect(vi.getTimerCount()).toBe(1);
});

test('an expiry callback that throws does not stop the other deadlines', async () => {
  const deadlines = new Deadlines(100);
  let isExpired = false;
  deadlines.start(() => {
    throw new Error('over');
  });
  deadlines.start(() => (isExpired = true));
  expect(() => vi.advanceTimersByTime(100)).toThrow('over');
  await vi.advanceTimersByTimeAsync(1);
  expect(isExpired).toBe(true);
});

test('a pending deadline does not keep the process alive', () => {
  vi.useRealTimers();
  const timers = vi.spyOn(globalThis, 'setTimeout');
  new Deadlines(100).start(() => {}).done();
  expect((timers.mock.results[0]!.value as NodeJS.Timeout).hasRef()).toBe(false);
  timers.mockRestore();
});
