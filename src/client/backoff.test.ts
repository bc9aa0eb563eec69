import fc from 'fast-check';
import { expect, test } from 'vitest';

import { backoffMs } from './backoff.ts';

test('doubles from one second to half a minute', () => {
  const steady = () => 0.5;
  expect([0, 1, 2, 3, 4, 5, 6, 100, 5000].map((attempt) => backoffMs(attempt, steady))).toEqual([
    1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000, 30_000,
  ]);
});

test('jitter is at most 30 % in either direction', () => {
  expect([backoffMs(0, () => 0), backoffMs(0, () => 1)]).toEqual([700, 1_300]);
  fc.assert(
    fc.property(fc.nat(2_000), (attempt) => {
      const delay = backoffMs(attempt);
      expect(delay).toBeGreaterThanOrEqual(700);
      expect(delay).toBeLessThanOrEqual(39_000);
    }),
  );
});
