import { expect, test } from 'vitest';

import { lanesOf } from './call-lanes.ts';
import type { ShownCall } from './call-log.ts';

const call = (id: string, startMs: number, durationMs: number): ShownCall => ({
  id,
  key: id,
  functionKey: 'a::b',
  function_id: 'a::b',
  namespace: 'default',
  caller: 'agent',
  caller_id: 'local:1 agent',
  line: null,
  says: 'ok',
  principal: { id: 'local:1', kind: 'local' },
  via: null,
  worker: null,
  node: null,
  started_at_ms: startMs,
  duration_ms: durationMs,
  outcome: 'ok',
  words: '',
});
const time = { fromMs: 1_000, toMs: 2_000, maxLanes: 3, leastWidth: 0.01 };
const shown = (calls: ShownCall[], options = time) =>
  lanesOf(calls, options).bars.map(({ call: { id }, lane, left, width }) => [id, lane, left, width]);

test('calls one after the other share a lane, calls at the same time do not', () => {
  expect(shown([call('c', 1_500, 250), call('a', 1_000, 500), call('b', 1_250, 500)])).toEqual([
    ['a', 0, 0, 0.5],
    ['b', 1, 0.25, 0.5],
    ['c', 0, 0.5, 0.25],
  ]);
});

test('only the part inside the time is shown, and none of what lies outside', () => {
  expect(
    shown([call('before', 0, 900), call('into', 500, 750), call('out', 1_750, 9_000), call('after', 2_001, 1)]),
  ).toEqual([
    ['into', 0, 0, 0.25],
    ['out', 0, 0.75, 0.25],
  ]);
});

test('a moment is as wide as can be seen, and stays inside', () => {
  expect(shown([call('early', 1_000, 0), call('end', 2_000, 0)])).toEqual([
    ['early', 0, 0, 0.01],
    ['end', 0, 0.99, 0.01],
  ]);
});

test('what has no lane is counted', () => {
  const many = Array.from({ length: 10 }, (_, at) => call(String(at), 1_000, 100));
  const { bars, laneCount, leftOut } = lanesOf(many, time);
  expect([bars.length, laneCount, leftOut]).toEqual([3, 3, 7]);
});
