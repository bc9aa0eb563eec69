import { expect, test } from 'vitest';

import { characterStart, wholeCharacters } from './characters.ts';

test.each([
  ['a€b', [0, 1, 1, 1, 4, 5]],
  ['😀', [0, 0, 0, 0, 4]],
  ['', [0]],
])('the characters of %j begin where they begin', (text, starts) => {
  const bytes = Buffer.from(text);
  expect(Array.from({ length: bytes.length + 1 }, (_, at) => characterStart(bytes, at))).toEqual(starts);
});

test('bytes that continue nothing stand for themselves', () => {
  expect(characterStart(Buffer.alloc(9, 0x80), 6)).toBe(6);
  expect(characterStart(Buffer.alloc(2, 0x80), 1)).toBe(1);
});

test.each([
  ['ab', [0, 1, 2]],
  ['aé', [0, 1, 1, 3]],
  ['€a', [0, 0, 0, 3, 4]],
  ['a😀', [0, 1, 1, 1, 1, 5]],
])('of the beginnings of %j the whole characters are returned', (text, lengths) => {
  const bytes = Buffer.from(text);
  expect(lengths.map((_, length) => wholeCharacters(bytes.subarray(0, length)))).toEqual(lengths);
});

test('bytes that are not text are kept', () => {
  expect(wholeCharacters(Buffer.alloc(6, 0x80))).toBe(6);
  expect(wholeCharacters(Buffer.from([0xf0, 0x80, 0x80, 0x80, 0x80]))).toBe(5);
});
