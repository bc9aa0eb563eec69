import { expect, test } from 'vitest';

import { rememberSuccess } from './remember-success.ts';

test('callers share one attempt, and only one that failed is made again', async () => {
  let attempts = 0;
  const ask = rememberSuccess(async () => {
    attempts += 1;
    if (attempts === 1) throw new Error('not installed');
    return attempts;
  });
  const first = await Promise.allSettled([ask(), ask()]);
  expect(first.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await Promise.all([ask(), ask(), ask()])).toEqual([2, 2, 2]);
  expect(await ask()).toBe(2);
});
