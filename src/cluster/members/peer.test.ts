import { expect, test } from 'vitest';

import { showsSame, type Beat } from '../wire/node-report.ts';
import { Peer } from './peer.ts';

test('a peer turns late once, and turns back when it is heard', () => {
  const peer = new Peer({ peer: { name: 'a', id: '1' } } as never, {} as never, 0);
  expect([1_000, 3_001, 4_000].map((nowMs) => peer.turnedLate(nowMs))).toEqual([false, true, false]);
  peer.heard(4_100);
  expect([4_200, 4_700].map((nowMs) => peer.turnedLate(nowMs))).toEqual([true, false]);
});

test('lists show the same of two reports that differ in the clock and the free memory', () => {
  const sandboxes = { places: 2, memory_free_mb: 100 } as Beat['sandboxes'];
  const beat = { v: 1, state: 'up', now_ms: 1, sandboxes } as Beat;
  expect(showsSame(beat, { ...beat, now_ms: 2, sandboxes: { ...sandboxes!, memory_free_mb: 90 } })).toBe(true);
  expect(showsSame(beat, { ...beat, sandboxes: { ...sandboxes!, places: 1 } })).toBe(false);
  expect(showsSame(beat, { ...beat, state: 'draining' })).toBe(false);
});
