/** Scheduling by the limit of all machines together, against reports that are older or newer than the starts. */
import { expect, test } from 'vitest';

import type { Fleet, FleetHost } from '#contract';
import { FreeSlots } from './free-slots.ts';
import { schedule } from './schedule.ts';

const MAX = 10;

/** By default its report arrived before all calls. */
function host(living: number, reportedAtMs = 0): FleetHost {
  const sandboxes = { places: MAX - living, starting: 0, living, max: MAX, memory_free_mb: 1_000, images: [] };
  return { name: 'a', id: 'a', isDraining: false, sandboxes, reportedAtMs };
}

/** A report that arrives long after all calls so far. */
const later = (living: number) => host(living, performance.now() + 60_000);

/** A cluster of one machine; `begin` schedules a run or a create that ends with `end`. */
function cluster() {
  let end: () => void;
  const ended = new Promise<object>((resolve) => (end = () => resolve({})));
  const slots = new FreeSlots();
  const state = { host: host(0), begun: 0 };
  const fleet: Fleet = {
    self: { name: 'door', id: 'door' },
    isDraining: false,
    maxSandboxes: MAX,
    hosts: () => [state.host],
    nodeOf: () => undefined,
    offer: () => () => {},
  };
  const begin = (isRun: boolean) =>
    schedule({
      ...{ fleet, slots, wish: { image: 'python', sizeMb: 0 }, isRepeatable: !isRun },
      signal: new AbortController().signal,
      attempt(_, called) {
        state.begun++;
        if (isRun) called();
        return ended;
      },
    });
  return { state, begin, end: () => end() };
}

const times = <T>(count: number, make: () => T) => Array.from({ length: count }, make);

test('long runs take one slot each', async () => {
  const { state, begin, end } = cluster();
  const runs = times(5, () => begin(true));
  state.host = later(5);
  runs.push(...times(5, () => begin(true)));
  expect(state.begun).toBe(MAX);
  state.host = later(MAX);
  await expect(begin(true)).rejects.toMatchObject({
    code: 'S400',
    message: expect.stringContaining('10 sandboxes of at most 10'),
  });
  end();
  await Promise.all(runs);
});

test('a run that a report may count already delays the next one until the report after', async () => {
  const { state, begin, end } = cluster();
  const runs = times(5, () => begin(true));
  state.host = host(5);
  runs.push(begin(true));
  expect(state.begun).toBe(5);
  state.host = later(5);
  await expect.poll(() => state.begun).toBe(6);
  end();
  await Promise.all(runs);
});

test.each([
  ['creates', false],
  ['runs', true],
])('a report that was on its way lets no %s through beyond the limit', async (_, isRun) => {
  const { state, begin, end } = cluster();
  const starts = times(MAX, () => begin(isRun));
  state.host = host(0);
  const late = begin(isRun).catch((error: unknown) => error);
  expect(state.begun).toBe(MAX);
  state.host = later(MAX);
  expect(await late).toMatchObject({ code: 'S400' });
  end();
  await Promise.all(starts);
});
