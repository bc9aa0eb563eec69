import { expect, test } from 'vitest';

import { compileRegex, type CharSet } from './index.ts';
import { forRandomMatches } from './random-matches.contract.ts';

/** A set as its members, in brackets when there are several. */
function spelled(set: CharSet): string {
  const members = Array.from(set.keys())
    .filter((char) => set[char])
    .map((char) => String.fromCharCode(char));
  return members.length === 1 ? members[0]! : `[${members.join('')}]`;
}

const runsOf = (pattern: string) => compileRegex(pattern).runs.map((run) => run.map(spelled).join(''));

test.each<[string, string[]]>([
  ['\\bstruct\\s+\\w+_ops\\b', ['struct', '_ops']],
  ['[ab]{3}-[01]{2,}', ['[ab][ab][ab]-[01][01]', '[01][01]']],
  ['x[ab]+y', ['x[ab]', '[ab]y']],
  ['(?i)err', ['[Ee][Rr][Rr]']],
  ['(?i)task', ['[Tt][Aa]']],
  ['^a\\b(b)c$', ['abc']],
  ['a(?:b|c)d', ['a[bc]d']],
  ['a(?:bb|c)d', ['a', 'd']],
  ['a(?:bé+c){2}d', ['ab', 'c', 'd']],
  ['ab?c', ['a', 'c']],
  ['a\nb', []],
  ['[\n\t]a', ['\ta']],
  ['é|a', []],
  ['', []],
])('%j needs %j', (pattern, runs) => {
  expect(runsOf(pattern)).toEqual(runs);
});

test('a long run is reported in pieces', () => {
  expect(runsOf('abcdefghij'.repeat(2))).toEqual([]);
  expect(runsOf('[ab][cd]'.repeat(9)).map((run) => run.length)).toEqual([64, 8]);
  expect(runsOf('[ab]{100}')).toEqual(['[ab]'.repeat(16), '[ab]'.repeat(16)]);
});

test('every match in a line holds all of them', { timeout: 60_000 }, () => {
  forRandomMatches(['[ab ]{2}', '(?i:ba)'], ({ regex, source, matched }) => {
    for (const run of regex.runs) expect([source, matched.toString(), isIn(matched, run)]).toContain(true);
  });
});

function isIn(text: Buffer, run: CharSet[]): boolean {
  return Array.from(text.keys()).some((from) => run.every((set, i) => set[text[from + i] ?? -1] === 1));
}
