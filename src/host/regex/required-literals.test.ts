import fc from 'fast-check';
import { expect, test } from 'vitest';

import { compileRegex, requiredLiterals } from './index.ts';

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
  const atom = fc.constantFrom(
    'a',
    'b',
    'ab',
    'bba',
    'é',
    'k',
    '[ab]',
    '[^a]',
    '\\w',
    '.',
    '\\b',
    '^',
    '(?i:ka)',
    '(?i:é)',
  );
  const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
    pattern: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      atom,
      fc.array(tie('pattern'), { maxLength: 4 }).map((parts) => parts.join('')),
      fc.array(tie('pattern'), { minLength: 1, maxLength: 4 }).map((branches) => `(?:${branches.join('|')})`),
      fc.tuple(tie('pattern'), fc.constantFrom('*', '+', '?', '{2}', '{3,}', '{0}', '{1,2}')).map((pair) => {
        return `(?:${pair[0]})${pair[1]}`;
      }),
    ),
  }));
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'é', 'É', 'k', 'K', '\u212a', ' '), maxLength: 16 });

  const property = fc.property(pattern, fc.array(text, { maxLength: 10 }), (source, haystacks) => {
    const literals = literalsOf(source);
    const regex = compileRegex(source);
    for (const haystack of haystacks.map((each) => Buffer.from(each))) {
      const match = regex.find(haystack);
      const matched = match && haystack.subarray(match.start, match.end);
      if (matched && literals) expect(literals.some((literal) => matched.includes(literal))).toBe(true);
    }
  });
  fc.assert(property, { numRuns: 300 });
});
