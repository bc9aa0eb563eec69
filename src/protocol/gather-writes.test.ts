import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';

import { gatherWrites, MAX_GATHERED } from './gather-writes.ts';

/** A stream that records how many writes were flushed at once. */
function record() {
  const flushes: number[] = [];
  let waiting = 0;
  let corks = 0;
  const gather = gatherWrites({
    cork: () => void (corks += 1),
    uncork: () => {
      corks -= 1;
      if (corks === 0) flushes.push(waiting);
      waiting = 0;
    },
  });
  const write = (count: number) => {
    for (let left = count; left > 0; left -= 1) {
      gather();
      waiting += 1;
    }
  };
  return { flushes, write, corks: () => corks };
}

test('the writes of one turn leave together, a few at a time', async () => {
  const { flushes, write, corks } = record();
  write(3);
  expect(flushes).toEqual([]);
  await turn();
  write(2 * MAX_GATHERED + 1);
  expect(flushes).toEqual([3, MAX_GATHERED, MAX_GATHERED]);
  await turn();
  expect(flushes).toEqual([3, MAX_GATHERED, MAX_GATHERED, 1]);
  expect(corks()).toBe(0);
});
