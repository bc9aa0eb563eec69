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
