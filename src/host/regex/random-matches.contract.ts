/** Random patterns and random texts over few letters, so that many of them match. */
import fc from 'fast-check';

import { rounds } from '#testing';
import { compileRegex, type Regex } from './index.ts';

const ATOMS = ['a', 'b', 'ab', 'bba', 'é', 'k', '[ab]', '[^a]', '\\w', '.', '\\b', '^', '(?i:ka)'];
const LETTERS = ['a', 'A', 'b', 'é', 'É', 'k', 'K', '\u212a', ' '];
const TIMES = ['*', '+', '?', '{2}', '{3,}', '{0}', '{1,2}'];

interface RandomMatch {
  source: string;
  regex: Regex;
  matched: Buffer;
}

/** `more` are additional parts for patterns. */
export function forRandomMatches(more: readonly string[], check: (match: RandomMatch) => void): void {
  const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
    pattern: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom(...ATOMS, ...more),
      fc.array(tie('pattern'), { maxLength: 4 }).map((parts) => parts.join('')),
      fc.array(tie('pattern'), { minLength: 1, maxLength: 4 }).map((branches) => `(?:${branches.join('|')})`),
      fc.tuple(tie('pattern'), fc.constantFrom(...TIMES)).map(([part, times]) => `(?:${part})${times}`),
    ),
  }));
  const texts = fc.array(fc.string({ unit: fc.constantFrom(...LETTERS), maxLength: 16 }), { maxLength: 10 });

  const property = fc.property(pattern, texts, (source, haystacks) => {
    const regex = compileRegex(source);
    for (const haystack of haystacks.map((each) => Buffer.from(each))) {
      const match = regex.find(haystack);
      if (match) check({ source, regex, matched: haystack.subarray(match.start, match.end) });
    }
  });
  fc.assert(property, { numRuns: rounds(60, 300, 3000) });
}
