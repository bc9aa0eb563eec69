import { expect, test } from 'vitest';

import { parseSize } from './size-text.ts';

test.each<[string | number, number | undefined]>([
  ['100MB', 100 * 2 ** 20],
  ['1KB', 1024],
  ['10B', 10],
  ['10', 10],
  ['2gb', 2 * 2 ** 30],
  [' 1.5 KB ', 1536],
  ['0', 0],
  [0, 0],
  [4096, 4096],
  [-1, undefined],
  [1.5, undefined],
  ['', undefined],
  ['-1KB', undefined],
  ['1TB', undefined],
  ['MB', undefined],
  ['1 2', undefined],
  ['1e3', undefined],
  ['99999999999GB', undefined],
])('%j is %j bytes', (size, bytes) => {
  expect(parseSize(size)).toBe(bytes);
});
