import { expect, test } from 'vitest';

import { diffLines, linesOf } from './line-diff.ts';

const diff = (before: string, after: string) =>
  diffLines(before.split(''), after.split('')).map(({ sign, text }) => (sign === ' ' ? text : sign + text));

test.each([
  ['', '', []],
  ['abc', 'abc', ['a', 'b', 'c']],
  ['abc', 'axc', ['a', '-b', '+x', 'c']],
  ['abc', '', ['-a', '-b', '-c']],
  ['', 'ab', ['+a', '+b']],
  ['aba', 'ba', ['-a', 'b', 'a']],
  ['abcdef', 'acxdf', ['a', '-b', 'c', '+x', 'd', '-e', 'f']],
])('from %j to %j', (before, after, lines) => {
  expect(diff(before, after)).toEqual(lines);
});

test('taking away what was put gives what was, and the other way round', () => {
  const before = Array.from({ length: 300 }, (_, at) => String((at * 7919) % 23));
  const after = Array.from({ length: 280 }, (_, at) => String((at * 6101) % 19));
  const lines = diffLines(before, after);
  expect(lines.filter(({ sign }) => sign !== '+').map(({ text }) => text)).toEqual(before);
  expect(lines.filter(({ sign }) => sign !== '-').map(({ text }) => text)).toEqual(after);
});

test('texts too large to compare are one after the other, without what they begin and end with', () => {
  const lines = (word: string) => Array.from({ length: 1_000 }, (_, at) => `${word} ${at}`);
  const large = (word: string) => ['same', ...lines(word), 'in both', ...lines(word), 'end'];
  const signs = diffLines(large('old'), large('new')).map(({ sign }) => sign);
  expect(signs.join('')).toBe(` ${'-'.repeat(2_001)}${'+'.repeat(2_001)} `);
});

test('lines that are there afterwards have their numbers', () => {
  expect(diffLines(['a', 'b', 'c'], ['a', 'x', 'c'], 7).map(({ sign, number }) => [sign, number])).toEqual([
    [' ', 7],
    ['-', undefined],
    ['+', 8],
    [' ', 9],
  ]);
});

test.each([
  ['', []],
  ['a', ['a']],
  ['a\n', ['a']],
  ['a\r\n\r\nb', ['a', '', 'b']],
])('the lines of %j', (text, lines) => {
  expect(linesOf(text)).toEqual(lines);
});
