import { expect, test } from 'vitest';

import { bytes, duration, percentile } from './format.ts';

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

test('the part of a list below which so many of it lie', () => {
  expect([percentile([], 0.5), percentile([1, 2, 3, 4], 0.5), percentile([1, 2, 3, 4], 1)]).toEqual([0, 3, 4]);
});
