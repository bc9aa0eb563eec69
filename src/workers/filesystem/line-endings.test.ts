import { expect, test } from 'vitest';

import { withEndings } from './line-endings.ts';

const { signal } = new AbortController();

test.each([
  ['', ''],
  ['a\nb\r\n\n\rc', 'a\r\nb\r\n\r\n\rc'],
  ['é\n😀\n', 'é\r\n😀\r\n'],
  [`${'x'.repeat(65_535)}\r\n\n`, `${'x'.repeat(65_535)}\r\n\r\n`],
  [`${'x'.repeat(65_535)}é\n`, `${'x'.repeat(65_535)}é\r\n`],
  [`${'x'.repeat(65_535)}\r`, `${'x'.repeat(65_535)}\r`],
])('every line ends with CRLF, or with LF (%#)', async (text, expected) => {
  expect((await withEndings(text, '\r\n', { signal })).toString()).toBe(expected);
  expect((await withEndings(expected, '\n', { signal })).toString()).toBe(expected.replaceAll('\r\n', '\n'));
});
