import { expect, test } from 'vitest';

import { CallMetrics } from './call-metrics.ts';

test('access.P1 ids beyond a bound share one row, of calls and of refusals', () => {
  const metrics = new CallMetrics();
  for (let at = 0; at < 2_100; at++) {
    metrics.ended({ functionId: `f${at}`, startTick: performance.now() }, 'ok');
    metrics.refused(`f${at}`, 'forbidden');
  }
  metrics.ended({ functionId: 'f0', startTick: performance.now() }, 'ok');
  metrics.refused('f0', 'forbidden');

  const [calls, durations, refusals] = metrics.read();
  const valueOf = (at: typeof calls, id: string) => at!.samples.find(({ labels }) => labels.function === id)?.value;
  expect(durations!.samples).toHaveLength(2_001);
  expect(valueOf(calls, 'other')).toBe(100);
  expect(valueOf(calls, 'f0')).toBe(2);
  expect(refusals!.samples).toHaveLength(2_001);
  expect(valueOf(refusals, 'other')).toBe(100);
  expect(valueOf(refusals, 'f0')).toBe(2);
});

test('a bucket counts every duration up to its bound', () => {
  const metrics = new CallMetrics();
  for (const seconds of [0, 0.05, 0.05, 7, 4_000]) {
    metrics.ended({ functionId: 'f', startTick: performance.now() - seconds * 1000 }, 'ok');
  }
  const { samples } = metrics.read()[1]!;
  const at = (le: number) => samples[0]!.buckets!.find((bucket) => bucket.le === le)!.count;
  expect([at(0.001), at(0.025), at(0.1), at(2.5), at(10), at(1800)]).toEqual([1, 1, 3, 3, 4, 4]);
  expect(samples[0]).toMatchObject({ count: 5 });
  expect(samples[0]!.value).toBeCloseTo(4_007.1, 0);
});
