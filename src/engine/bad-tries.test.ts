import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { BadTries } from './bad-tries.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const MADE_HERE = `wct_${'a'.repeat(43)}`;

function slowed(address = '10.0.0.1'): BadTries {
  const tries = new BadTries();
  for (let bad = 0; bad < 10; bad++) tries.wasBad(address);
  return tries;
}

function isCheckedNow(tries: BadTries, secret: string | undefined, address = '10.0.0.1'): boolean {
  const check = vi.fn();
  tries.beforeCheck(secret, address, check);
  return check.mock.calls.length === 1;
}

test('access.P3 after ten bad tokens every unknown token from that address is delayed', () => {
  const tries = new BadTries();
  for (let bad = 0; bad < 9; bad++) tries.wasBad('10.0.0.1');
  expect(isCheckedNow(tries, 'guess')).toBe(true);
  tries.wasBad('10.0.0.1');
  const check = vi.fn();
  expect(tries.beforeCheck('guess', '::ffff:10.0.0.1', check)).toBe(true);
  vi.advanceTimersByTime(999);
  expect(check).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(check).toHaveBeenCalledOnce();
  expect(isCheckedNow(tries, 'guess', '10.0.0.2')).toBe(true);
  vi.advanceTimersByTime(60_000);
  expect(isCheckedNow(tries, 'guess')).toBe(true);
});

test('access.P3 a token in use, one that cannot be guessed, and a request without one never wait', () => {
  const tries = slowed();
  tries.wasGood('in use');
  expect(isCheckedNow(tries, 'in use')).toBe(true);
  expect(isCheckedNow(tries, MADE_HERE)).toBe(true);
  expect(isCheckedNow(tries, undefined)).toBe(true);
  expect(isCheckedNow(tries, 'guess')).toBe(false);
});

test('access.P3 at most 32 requests are delayed at a time, and a disconnect frees no slot', () => {
  const tries = slowed();
  const taken = Array.from({ length: 40 }, () => tries.beforeCheck('guess', '10.0.0.1', () => {}));
  expect(taken.filter(Boolean)).toHaveLength(32);
  vi.advanceTimersByTime(1_000);
  expect(tries.beforeCheck('guess', '10.0.0.1', () => {})).toBe(true);
});

test('access.P3 all addresses of one IPv6 network count together', () => {
  const tries = new BadTries();
  for (let bad = 0; bad < 10; bad++) tries.wasBad(`2001:db8::${bad}`);
  expect(isCheckedNow(tries, 'guess', '2001:db8:0:0:ffff::1')).toBe(false);
  expect(isCheckedNow(tries, 'guess', '2001:db8:0:1::1')).toBe(true);
});

test('access.P3 many addresses do not fill the memory', () => {
  const tries = slowed('10.0.0.1');
  for (let at = 0; at < 10_000; at++) tries.wasBad(`a${at}`);
  expect(isCheckedNow(tries, 'guess', '10.0.0.1')).toBe(true);
});
