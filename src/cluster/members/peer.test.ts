import { expect, test } from 'vitest';

import { showsSame, type NodeReport } from '../wire/node-report.ts';
import { Peer } from './peer.ts';

test('a peer is reported late once, and again after it was heard', () => {
  const peer = new Peer({ peer: { name: 'a', id: '1' } } as never, {} as never, 0);
  expect([1_000, 3_001, 4_000].map((nowMs) => peer.turnedLate(nowMs))).toEqual([false, true, false]);
  peer.heard(4_100);
  expect([4_200, 4_700].map((nowMs) => peer.turnedLate(nowMs))).toEqual([true, false]);
});

test('reports that differ only in clock and free memory show the same in lists', () => {
  const sandboxes = { places: 2, memory_free_mb: 100 } as NodeReport['sandboxes'];
  const report = { v: 1, state: 'up', now_ms: 1, sandboxes } as NodeReport;
  expect(showsSame(report, { ...report, now_ms: 2, sandboxes: { ...sandboxes!, memory_free_mb: 90 } })).toBe(true);
  expect(showsSame(report, { ...report, sandboxes: { ...sandboxes!, places: 1 } })).toBe(false);
  expect(showsSame(report, { ...report, state: 'draining' })).toBe(false);
});
