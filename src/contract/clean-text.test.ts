import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { expect, test } from 'vitest';

import { cleanText } from './clean-text.ts';

test.each([
  ['plain', 'plain'],
  ['a\u{202e}b\u{200b}c\u{0}d\ne', 'abcde'],
  ['x'.repeat(300), 'x'.repeat(280)],
  ['żółw 🐢', 'żółw 🐢'],
])('%j is shown as %j', (text, shown) => {
  expect(cleanText(text)).toBe(shown);
});

test('of a text that is far too long nothing is held but what is shown', () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const shown = Array.from({ length: 20 }, (_, at) =>
    cleanText(JSON.parse(`"${at}${'x'.repeat(5_000_000)}"`) as string),
  );
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  expect(shown.splice(0).map(({ length }) => length)).toEqual(Array.from({ length: 20 }, () => 280));
  collectGarbage();
  expect(before - process.memoryUsage().heapUsed).toBeLessThan(20_000_000);
});
