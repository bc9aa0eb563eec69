import { expect, test } from 'vitest';

import { highlight } from './highlight.ts';

const painted = (line: string, text: string, more: { isRegex?: boolean; ignoreCase?: boolean } = {}) =>
  highlight(line, { text, isRegex: false, ignoreCase: false, ...more })
    .map((part) => (part.isHit ? `[${part.text}]` : part.text))
    .join('');

test.each([
  ['every occurrence', painted('a.b a.b', 'a.b'), '[a.b] [a.b]'],
  ['a literal is no regex', painted('axb a.b', 'a.b'), 'axb [a.b]'],
  ['case counts', painted('Todo TODO', 'TODO'), 'Todo [TODO]'],
  ['unless it does not', painted('Todo TODO', 'todo', { ignoreCase: true }), '[Todo] [TODO]'],
  ['a regex', painted('fn one() fn two()', 'fn \\w+', { isRegex: true }), '[fn one]() [fn two]()'],
  ['a regex of Rust that JavaScript cannot read', painted('abc', '(?P<x>a)', { isRegex: true }), 'abc'],
  ['a regex that matches nothing', painted('abc', 'x*', { isRegex: true }), 'abc'],
  ['an empty line', painted('', 'x'), ''],
])('%s', (_, got, wanted) => {
  expect(got).toBe(wanted);
});
