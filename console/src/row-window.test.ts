import { expect, test } from 'vitest';

import { rowWindow } from './row-window.ts';

test.each([
  ['the beginning', 0, 10_000, { from: 0, until: 40 }],
  ['the middle', 100_000, 10_000, { from: 4_980, until: 5_040 }],
  ['the end', 199_600, 10_000, { from: 9_940, until: 10_000 }],
  ['past the end, when a filter left fewer rows', 100_000, 30, { from: 0, until: 30 }],
  ['an empty list', 0, 0, { from: 0, until: 0 }],
])('%s', (_, top, count, rows) => {
  expect(rowWindow({ top, height: 400 }, 20, count)).toEqual(rows);
});
