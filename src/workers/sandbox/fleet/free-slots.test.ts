/** Slots of a machine that this node took, before and after the machine reports them. */
import { expect, test } from 'vitest';

import type { FleetHost } from '#contract';
import { FreeSlots } from './free-slots.ts';

function host(sandboxes: Partial<FleetHost['sandboxes']> = {}): FleetHost {
  const report = { places: 4, starting: 0, living: 1, max: 5, memory_free_mb: 1_000, images: [] };
  return { name: 'a', id: 'a', isDraining: false, sandboxes: { ...report, ...sandboxes } };
}

/** Starts a sandbox; call the returned function to end the start. */
function startOn(
  slots: FreeSlots,
  at: FleetHost,
  latest: () => FleetHost,
): (end: 'replied' | 'refused') => Promise<void> {
  let settle: (end: 'replied' | 'refused') => void;
  const ended = new Promise<void>((resolve, reject) => {
    settle = (end) => (end === 'replied' ? resolve() : reject(new Error(end)));
  });
  const reportOf = () => latest().sandboxes;
  const done = slots.during(at, reportOf, () => ended).catch(() => {});
  return (end) => (settle(end), done);
}

const both = (slots: FreeSlots, at: FleetHost) => ({ used: slots.used(at), free: slots.free(at) });

test('a start counts once, before the machine reports it and after', async () => {
  const slots = new FreeSlots();
  let now = host();
  const end = startOn(slots, now, () => now);
  expect(both(slots, now)).toEqual({ used: 2, free: 3 });
  now = host({ starting: 1, places: 3 });
  expect(both(slots, now)).toEqual({ used: 2, free: 3 });
  await end('replied');
  expect(slots.unreported(now)).toBe(1);
  now = host({ living: 2, places: 3 });
  expect(both(slots, now)).toEqual({ used: 2, free: 3 });
  expect(slots.unreported(now)).toBe(0);
});

test('a sandbox that replied counts until the next report, also if its start began before the last one', async () => {
  const slots = new FreeSlots();
  let now = host();
  const end = startOn(slots, now, () => now);
  // Sent before the machine began.
  now = host();
  expect(both(slots, now)).toEqual({ used: 2, free: 3 });
  await end('replied');
  expect(both(slots, now)).toEqual({ used: 2, free: 3 });
});

test('a start that failed is free at once, and starts of other nodes count', async () => {
  const slots = new FreeSlots();
  const now = host();
  const end = startOn(slots, now, () => now);
  expect(both(slots, now)).toEqual({ used: 2, free: 3 });
  expect(both(slots, host({ starting: 3, places: 1 }))).toEqual({ used: 4, free: 1 });
  await end('refused');
  expect(both(slots, now)).toEqual({ used: 1, free: 4 });
  expect(slots.unreported(now)).toBe(0);
});
