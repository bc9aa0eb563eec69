/** Slots of a machine that this node took, before and after the machine reports them. */
import { expect, test } from 'vitest';

import type { FleetHost } from '#contract';
import { FreeSlots } from './free-slots.ts';

/** By default its report arrived before all calls. */
function host(sandboxes: Partial<FleetHost['sandboxes']> = {}, reportedAtMs = 0): FleetHost {
  const report = { places: 4, starting: 0, living: 1, max: 5, memory_free_mb: 1_000, images: [] };
  return { name: 'a', id: 'a', isDraining: false, sandboxes: { ...report, ...sandboxes }, reportedAtMs };
}

/** A machine whose report arrives long after all calls so far. */
const later = (sandboxes: Partial<FleetHost['sandboxes']> = {}) => host(sandboxes, performance.now() + 60_000);

type End = 'replied' | 'ended' | 'refused';

/** Starts a sandbox; call the returned function to end the start. */
function startOn(
  slots: FreeSlots,
  at: FleetHost,
  latest: () => FleetHost,
  { isRun = false } = {},
): (end: End) => Promise<void> {
  let settle: (end: End) => void;
  const ended = new Promise<{ sandbox_id?: string }>((resolve, reject) => {
    settle = (end) =>
      end === 'refused' ? reject(new Error(end)) : resolve(end === 'ended' ? {} : { sandbox_id: 's' });
  });
  const work = (called: () => void) => {
    if (isRun) called();
    return ended;
  };
  const done = slots.during(at, latest, work).then(
    () => {},
    () => {},
  );
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

test('a create that takes long counts until its reply, whatever the machine reports', async () => {
  const slots = new FreeSlots();
  let now = host();
  const end = startOn(slots, now, () => now);
  now = later();
  expect(both(slots, now)).toEqual({ used: 2, free: 3 });
  await end('replied');
  expect(both(slots, now)).toEqual({ used: 2, free: 3 });
});

test('a run that outlives a report counts once: until then here, after it as living', async () => {
  const slots = new FreeSlots();
  let now = host();
  const end = startOn(slots, now, () => now, { isRun: true });
  expect([both(slots, now), slots.unreported(now)]).toEqual([{ used: 2, free: 3 }, 1]);
  now = later({ living: 2, places: 3 });
  expect([both(slots, now), slots.unreported(now)]).toEqual([{ used: 2, free: 3 }, 0]);
  await end('ended');
  expect(both(slots, now)).toEqual({ used: 2, free: 3 });
  now = later();
  expect(both(slots, now)).toEqual({ used: 1, free: 4 });
});

test('a report that was on its way when a run was called does not end its count', async () => {
  const slots = new FreeSlots();
  let now = host();
  const end = startOn(slots, now, () => now, { isRun: true });
  now = host();
  expect([both(slots, now), slots.unreported(now)]).toEqual([{ used: 2, free: 3 }, 1]);
  await end('ended');
  expect([both(slots, now), slots.unreported(now)]).toEqual([{ used: 1, free: 4 }, 0]);
});

test('a run that has not called its machine yet counts, whatever the machine reports', async () => {
  const slots = new FreeSlots();
  let call: () => void;
  let end: () => void;
  const done = slots.during(
    host(),
    () => later(),
    (called) => {
      call = called;
      return new Promise<object>((resolve) => (end = () => resolve({})));
    },
  );
  expect([both(slots, later()), slots.unreported(later())]).toEqual([{ used: 2, free: 3 }, 0]);
  call!();
  expect(both(slots, later())).toEqual({ used: 1, free: 4 });
  end!();
  await done;
});

test('a sandbox that a run keeps counts until the next report, and not again if that came before', async () => {
  const slots = new FreeSlots();
  let now = host();
  const [short, long] = [1, 2].map(() => startOn(slots, now, () => now, { isRun: true }));
  await short!('replied');
  expect(both(slots, now)).toEqual({ used: 3, free: 2 });
  now = later({ living: 3, places: 2 });
  await long!('replied');
  expect([both(slots, now), slots.unreported(now)]).toEqual([{ used: 3, free: 2 }, 0]);
});
