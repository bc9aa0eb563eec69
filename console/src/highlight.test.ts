import { expect, test } from 'vitest';

import { highlight, highlightHit, type Segment } from './highlight.ts';

const query = { text: '', isRegex: false, ignoreCase: false };
const marked = (segments: Segment[]) => segments.map((part) => (part.isHit ? `[${part.text}]` : part.text)).join('');
const painted = (line: string, text: string, more: { isRegex?: boolean; ignoreCase?: boolean } = {}) =>
  marked(highlight(line, { ...query, text, ...more }));
const paintedHit = (text: string, column: number, regex: string) =>
  marked(highlightHit({ text, column }, { ...query, text: regex, isRegex: true }));

test.each([
  ['every occurrence', painted('a.b a.b', 'a.b'), '[a.b] [a.b]'],
  ['a literal is not a regex', painted('axb a.b', 'a.b'), 'axb [a.b]'],
  ['case counts', painted('Todo TODO', 'TODO'), 'Todo [TODO]'],
  ['unless it does not', painted('Todo TODO', 'todo', { ignoreCase: true }), '[Todo] [TODO]'],
  ['a regex is not looked for', painted('fn one()', 'fn', { isRegex: true }), 'fn one()'],
  ['an empty line', painted('', 'x'), ''],
  [
    'a hit without its indentation',
    marked(highlightHit({ text: '\t a.b', column: 3 }, { ...query, text: 'a.b' })),
    '[a.b]',
  ],
  ['a hit of a regex, where it begins', paintedHit('  pub fn one()', 7, 'fn \\w+'), 'pub [fn] one()'],
  ['columns are bytes', paintedHit('\u00a0ä😀 ☃ fn', 14, 'fn'), 'ä😀 ☃ [fn]'],
  ['a match that begins in the indentation', paintedHit('  fn one', 1, '\\s+fn'), '[fn] one'],
  ['a match of no word', paintedHit('a => b', 3, '=>'), 'a [=]> b'],
  ['a match after what is shown', paintedHit('cut', 90, 'x'), 'cut'],
  ['a match of nothing', paintedHit('', 1, '^$'), ''],
])('%s', (_, got, wanted) => {
  expect(got).toBe(wanted);
});

test('a regex that backtracks costs nothing', () => {
  const line = 'a'.repeat(5_000);
  const slow = { ...query, text: '(a+)+$|(a*)*b', isRegex: true };
  expect([marked(highlight(`${line}!`, slow)), marked(highlightHit({ text: `${line}!`, column: 1 }, slow))]).toEqual([
    `${line}!`,
    `[${line}]!`,
  ]);
});
