/** The list stays consistent while machines report and leave. */
import { expect, test } from 'vitest';

import type { FleetHost } from '#contract';
import { HostList } from './host-list.ts';

function host(id: string, places = 1): FleetHost {
  const sandboxes = { places, starting: 0, living: 0, max: 9, memory_free_mb: 0, images: [] };
  return { name: id, id, isDraining: false, sandboxes, reportedAtMs: 0 };
}

test('a host is listed once, with its last report, until it is removed', () => {
  const list = new HostList();
  for (const id of ['a', 'b', 'c']) list.put(host(id));
  list.put(host('b', 5));
  const rows = () => list.rows.map(({ id, sandboxes }) => `${id}${sandboxes.places}`).toSorted();
  expect(rows()).toEqual(['a1', 'b5', 'c1']);
  list.remove('a');
  list.remove('unknown');
  expect(rows()).toEqual(['b5', 'c1']);
  list.put(host('c', 7));
  list.remove('b');
  expect(rows()).toEqual(['c7']);
  list.remove('c');
  list.put(host('a', 2));
  expect(rows()).toEqual(['a2']);
});
