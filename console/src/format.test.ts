import { expect, test } from 'vitest';

import { bytes, clock, duration, moment, percentile, preciseClock } from './format.ts';

test.each([
  [0, '—'],
  [0.0424, '42 µs'],
  [1.25, '1.3 ms'],
  [999, '999 ms'],
  [1_500, '1.5 s'],
  [61_000, '1 min 1 s'],
  [3_660_000, '1 h 1 min'],
])('%d ms is %s', (ms, text) => {
  expect(duration(ms)).toBe(text);
});

test.each([
  [0, '0 B'],
  [1_023, '1023 B'],
  [1_024, '1.0 KiB'],
  [52_428_800, '50 MiB'],
])('%d bytes are %s', (count, text) => {
  expect(bytes(count)).toBe(text);
});

test('the time of day has two digits each and goes to 23', () => {
  const midnight = new Date(2026, 0, 1, 0, 5, 9, 42).getTime();
  expect([clock(midnight), preciseClock(midnight)]).toEqual(['00:05:09', '00:05:09.042']);
  expect(clock(midnight - 600_000)).toBe('23:55:09');
});

test('the part of a list below which so many of it lie', () => {
  expect([percentile([], 0.5), percentile([1, 2, 3, 4], 0.5), percentile([1, 2, 3, 4], 1)]).toEqual([0, 3, 4]);
});

test('a moment has its day unless that is today', () => {
  const noon = new Date(2026, 0, 2, 12).getTime();
  expect(moment(noon, noon + 3_600_000)).toBe('12:00:00');
  expect(moment(noon - 86_400_000, noon)).toMatch(/\b1\b.*, 12:00:00$/);
});
