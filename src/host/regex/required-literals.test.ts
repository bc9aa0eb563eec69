import { expect, test } from 'vitest';

import { compileRegex, requiredLiterals } from './index.ts';
import { forRandomMatches } from './random-matches.contract.ts';

function literalsOf(pattern: string): string[] | undefined {
  return requiredLiterals(compileRegex(pattern))?.map((bytes) => Buffer.from(bytes).toString());
}

test.each<[string, string[] | undefined]>([
  ['fn\\s+\\w+_handler\\(', ['_handler(']],
  ['(TODO|FIXME|HACK)\\b', ['TODO', 'FIXME', 'HACK']],
  ['use(Memo|Callback)\\(', ['useMemo(', 'useCallback(']],
  ['colou?r', ['colour', 'color']],
  ['\\b\\w+Error\\b.*cause', ['Error']],
  ['foo.*|foobar', ['foo']],
  ['(ab){2,}', ['abab']],
  ['[ab]c', ['ac', 'bc']],
  ['(?i)ks', ['KS', 'Ks', 'K\u017f', 'kS', 'ks', 'k\u017f', '\u212aS', '\u212as', '\u212a\u017f']],
  ['^é$', ['é']],
  ['x*', undefined],
  ['\\w+', undefined],
  ['a|', undefined],
  ['a|\\d', undefined],
  ['[a&&b]', undefined],
  ['', undefined],
])('%j needs %j', (pattern, literals) => {
  expect(literalsOf(pattern)).toEqual(literals);
});

test('a pattern too long to take apart needs nothing', () => {
  expect(literalsOf('a'.repeat(5_000))).toBeUndefined();
});

test('every match holds one of them', { timeout: 60_000 }, () => {
  forRandomMatches(['(?i:é)'], ({ source, matched }) => {
    const literals = literalsOf(source);
    if (literals) expect(literals.some((literal) => matched.includes(literal))).toBe(true);
  });
});
