import fc from 'fast-check';
import { expect, test } from 'vitest';

import { rounds } from '#testing/basics';
import { LineBlock } from './line-index-block.ts';
import { chomp, countLines, lineEnd, lineEnding, linesAround, lineStart, locateLines } from './text-lines.ts';

const TEXTS = fc
  .array(fc.constantFrom('a', 'é', '\n', '\r\n', '\r', '\n\n'), { maxLength: 30, size: 'max' })
  .map((parts) => parts.join(''));

/** The lines with their newlines. */
const linesOf = (text: string) => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

test.each([
  ['', 0],
  ['\n', 1],
  ['a', 1],
  ['a\n', 1],
  ['a\n\n', 2],
  ['a\r\nb', 2],
  ['a\rb', 1],
])('%j has %i lines', (text, count) => {
  expect(countLines(Buffer.from(text))).toBe(count);
});

test('lines begin where those before end', () => {
  fc.assert(
    fc.property(TEXTS, (text) => {
      const lines = linesOf(text);
      const expected = [...lines, ''].map((_, i) => [i + 1, Buffer.byteLength(lines.slice(0, i).join(''))] as const);
      const { count, starts } = locateLines(
        Buffer.from(text),
        Array.from({ length: lines.length + 4 }, (_, i) => lines.length + 2 - i),
      );
      expect(count).toBe(lines.length);
      expect([...starts]).toEqual(expected);
    }),
  );
});

test.each([0, 3])('a text in memory for texts has the lines it has elsewhere, from byte %i on', (at) => {
  const memory = LineBlock.newMemory();
  fc.assert(
    fc.property(TEXTS, (text) => {
      const elsewhere = Buffer.from(text);
      const bytes = memory.fill('\n').subarray(at, at + elsewhere.copy(memory, at));
      expect(locateLines(bytes, [1, 2, 3, 4])).toEqual(locateLines(elsewhere, [1, 2, 3, 4]));
    }),
    { numRuns: rounds(30, 90, 900) },
  );
});

test.each([1, 2, 3, 50, 4097, 100_000])('lines of %i bytes are found across megabytes, near and far', (length) => {
  const bytes = Buffer.alloc((5 << 19) + 7, 'x');
  for (let at = length - 1; at < bytes.length; at += length) bytes[at] = 10;
  const count = Math.ceil(bytes.length / length);
  const wanted = [1, 2, 3, 17, 18, 40, Math.ceil(count / 2), count - 1, count].filter((line) => line <= count);
  const found = locateLines(bytes, [...wanted, count + 1, count + 2]);
  expect(found.count).toBe(count);
  expect(found.starts).toEqual(
    new Map([...wanted.map((line) => [line, (line - 1) * length] as const), [count + 1, bytes.length]]),
  );
});

test('every byte of a line gives the same start and end', () => {
  fc.assert(
    fc.property(TEXTS, (text) => {
      const bytes = Buffer.from(text);
      let start = 0;
      for (const line of linesOf(text)) {
        const end = start + Buffer.byteLength(line);
        for (let at = start; at < end; at++) {
          expect([lineStart(bytes, at), lineEnd(bytes, at)]).toEqual([start, end]);
        }
        start = end;
      }
    }),
  );
});

test.each([
  ['a\r\nb\n', 0, '\r\n'],
  ['a\r\nb\n', 3, '\n'],
  ['a\r\nb', 3, '\r\n'],
  ['a\r\n', 3, '\r\n'],
  ['a', 0, '\n'],
  ['\n', 0, '\n'],
  ['', 0, '\n'],
])('the line of %j at %i ends with %j', (text, at, ending) => {
  expect(lineEnding(Buffer.from(text), at)).toBe(ending);
});

test.each([
  ['a\n', 'a'],
  ['a\r\n', 'a'],
  ['a\n\n', 'a\n'],
  ['a\r', 'a\r'],
  ['\n', ''],
  ['', ''],
])('%j without its last line ending is %j', (text, chomped) => {
  expect(String(chomp(Buffer.from(text)))).toBe(chomped);
});

test.each([
  ['one line', [4, 5], '1\n2\n3\n4\n5\n'],
  ['part of two lines', [6, 9], '2\n3\n4\n5\n6\n7\n'],
  ['nothing, between two lines', [6, 6], '2\n3\n4\n5\n6\n'],
  ['nothing, at the end', [14, 14], '6\n7\n'],
  ['the first line', [0, 2], '1\n2\n3\n'],
  ['everything', [0, 14], '1\n2\n3\n4\n5\n6\n7\n'],
])('around %s are two lines on either side', (_, [start, end], shown) => {
  const text = Buffer.from('1\n2\n3\n4\n5\n6\n7\n');
  const around = linesAround(text, { start: start!, end: end! }, 2);
  expect(String(text.subarray(around.start, around.end))).toBe(shown);
});
