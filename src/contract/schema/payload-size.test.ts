import { expect, test } from 'vitest';

import { hasTooManyValues, MAX_PAYLOAD_VALUES } from './payload-size.ts';

const list = (length: number) => Array.from({ length }, () => 0);

test.each([
  ['nothing', undefined, false],
  ['null', { a: null, b: [null] }, false],
  ['a text', 'x'.repeat(1_000_000), false],
  ['as many as may be', list(MAX_PAYLOAD_VALUES), false],
  ['one more', list(MAX_PAYLOAD_VALUES + 1), true],
  ['one more, in two lists', { a: { b: list(MAX_PAYLOAD_VALUES / 2) }, c: [list(MAX_PAYLOAD_VALUES / 2)] }, true],
  ['fields', Object.fromEntries(list(MAX_PAYLOAD_VALUES + 1).map((_, i) => [i, 0])), true],
  ['bytes', { content: new Uint8Array(1_000_000) }, false],
])('bus.P15 %s', (_, payload, expected) => {
  expect(hasTooManyValues(payload)).toBe(expected);
});

test('a circular value counts as too large', () => {
  const loop: unknown[] = [];
  loop.push(loop);
  expect(hasTooManyValues(loop)).toBe(true);
});
