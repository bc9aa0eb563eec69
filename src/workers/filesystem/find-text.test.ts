import fc from 'fast-check';
import { expect, test } from 'vitest';

import { rounds } from '#testing';
import { findText } from './find-text.ts';

const never = { atMost: Infinity, signal: new AbortController().signal };

test.each([
  ['the spelling that is there', 'a\nb\r\na\r\nb', 'a\nb', { starts: [0], length: 3 }],
  ['LF where the text has CRLF', 'x a\r\nb', 'a\nb', { starts: [2], length: 4 }],
  ['CRLF where the text has LF', 'x a\nb', 'a\r\nb', { starts: [2], length: 3 }],
  ['none overlapping another', 'aaaaa', 'aa', { starts: [0, 2], length: 2 }],
  ['nothing', 'a', 'aa', { starts: [], length: 0 }],
])('finds %s', async (_, text, wanted, expected) => {
  expect(await findText(Buffer.from(text), wanted, never)).toEqual(expected);
});

test('finds no more than are wanted', async () => {
  expect(await findText(Buffer.from('a-a-a'), 'a', { ...never, atMost: 2 })).toEqual({ starts: [0, 2], length: 1 });
});

test('finds what the platform finds, across windows and with long texts', async () => {
  const lengths = fc.constantFrom(1, 2, 255, 256, 257, 400, 65_535, 65_536, 65_800);
  const property = fc.asyncProperty(lengths, fc.array(lengths, { maxLength: 4 }), async (length, gaps) => {
    const wanted = `${'a'.repeat(length - 1)}b`;
    const text = Buffer.from(gaps.map((gap) => 'a'.repeat(gap) + wanted).join('') + 'a'.repeat(300));
    const starts: number[] = [];
    for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + length)) starts.push(at);
    expect((await findText(text, wanted, never)).starts).toEqual(starts);
  });
  await fc.assert(property, { numRuns: rounds(15, 60, 600) });
}, 60_000);

test('a search that takes minutes ends after its caller left', async () => {
  const controller = new AbortController();
  const reason = new Error('not wanted');
  const half = 'a'.repeat(500_000);
  const searching = findText(Buffer.alloc(50_000_000, 'a'), `${half}b${half}`, { ...never, signal: controller.signal });
  setTimeout(() => controller.abort(reason), 50);
  await expect(searching).rejects.toBe(reason);
});
