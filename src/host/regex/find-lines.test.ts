import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { rounds } from '#testing';
import { compileRegex, type LineMatch, type Regex } from './index.ts';

/** Each line searched alone, by definition. */
function findByDefinition(regex: Regex, text: string): LineMatch[] {
  const found: LineMatch[] = [];
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  let lineStart = 0;
  for (const line of lines) {
    const content = Buffer.from(line.endsWith('\r') ? line.slice(0, -1) : line);
    const match = regex.find(content);
    if (match) found.push({ lineStart, lineEnd: lineStart + content.length, matchStart: lineStart + match.start });
    lineStart += Buffer.byteLength(line) + 1;
  }
  return found;
}

/** After enough searches it takes many lines at once. */
function warmedUp(pattern: string): Regex {
  const regex = compileRegex(pattern);
  regex.findLines(Buffer.alloc(100_000, '\n'), { limit: 0 });
  return regex;
}

describe('finds the lines that match alone', () => {
  const text = 'ab\r\nxay\n\na\r\r\nb\ra\n\r\n b\u00a0\nba';

  test.each([
    'a',
    'b$',
    '^$',
    '^',
    '$',
    '\\A.',
    'y\\z',
    '\\s',
    '[^b]$',
    '\\n',
    'b\\n|a',
    '[\\n]*',
    '\\r',
    '(?-m)^a',
    '',
  ])('%j', (pattern) => {
    const truth = findByDefinition(compileRegex(pattern), text);
    expect(compileRegex(pattern).findLines(Buffer.from(text))).toEqual(truth);
    expect(warmedUp(pattern).findLines(Buffer.from(text))).toEqual(truth);
  });

  test('of an empty text, none', () => {
    expect(warmedUp('').findLines(Buffer.alloc(0))).toEqual([]);
  });

  test('whatever the pattern', { timeout: 60_000 }, () => {
    fc.assert(
      fc.property(patterns, fc.array(texts, { minLength: 1, maxLength: 8 }), (pattern, haystacks) => {
        const regex = warmedUp(pattern);
        for (const haystack of haystacks) {
          expect(regex.findLines(Buffer.from(haystack))).toEqual(findByDefinition(regex, haystack));
        }
      }),
      { numRuns: rounds(50, 250, 2500) },
    );
  });

  test.each(['\\w+b\\b', '[^x]$', '\\bé', '(?mR)a$', 'a*'])('of a long text, with %j', (pattern) => {
    const lines = Array.from(
      { length: 30_000 },
      (_, i) => `${'xa b'.repeat(i % 7)}${i % 50 ? 'ab' : 'é日'}${i % 3 ? '' : '\r'}`,
    );
    const haystack = lines.join('\n');
    expect(compileRegex(pattern).findLines(Buffer.from(haystack))).toEqual(
      findByDefinition(compileRegex(pattern), haystack),
    );
  });
});

/** Patterns whose meaning differs between a line and a text of lines, in all combinations. */
const atoms = fc.constantFrom(
  ...[
    'a',
    'b',
    'é',
    'K',
    '_',
    ' ',
    '\\r',
    '\\n',
    '\\s',
    '\\S',
    '\\w',
    '\\W',
    '.',
    '[^a]',
    '[^\\n]',
    '[\\na]',
    '[^\\S\\n]',
  ],
  ...['(?s:.)', '(?i:k)', '(?-u:\\w)', '[a&&b]', '\\P{L}', 'a|b', 'a|'],
);
const assertions = fc.constantFrom(
  ...['^', '$', '\\A', '\\z', '(?m:^)', '(?m:$)', '\\b', '\\B', '(?-u:\\b)', '(?-u:\\B)', '(?mR:^)', '(?mR:$)'],
  ...['\\b{start}', '\\b{end}', '\\b{start-half}', '\\b{end-half}', '(?-u:\\b{start})', '(?-u:\\b{end-half})'],
);
const { pattern: patterns } = fc.letrec<{ pattern: string; flagged: string }>((tie) => ({
  pattern: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    atoms,
    assertions,
    fc.tuple(tie('pattern'), tie('pattern')).map(([left, right]) => left + right),
    fc.tuple(tie('pattern'), tie('pattern')).map(([left, right]) => `(?:${left}|${right})`),
    fc
      .tuple(tie('pattern'), fc.constantFrom('*', '+', '?', '*?', '+?', '{2}', '{0,2}?', '{2,}'))
      .map(([sub, times]) => `(${sub})${times}`),
    tie('flagged'),
  ),
  flagged: fc.tuple(fc.constantFrom('i', 'm', 's', 'U', '-u'), atoms).map(([flag, sub]) => {
    const isUnicodeOnly = /\\P|\[\^|\\W|\\S|\.|é/.test(sub);
    return flag === '-u' && isUnicodeOnly ? sub : `(?${flag}:${sub})`;
  }),
}));
const texts = fc.string({
  unit: fc.constantFrom('a', 'b', 'é', 'k', '\u212a', '_', ' ', '\r', '\n', '\r\n'),
  maxLength: 25,
  size: 'max',
});

test('stops at the limit', () => {
  const lines = Buffer.from('a\nb\n'.repeat(50_000));
  const starts = compileRegex('b').findLines(lines, { limit: 3 });
  expect(starts.map(({ lineStart }) => lineStart)).toEqual([2, 6, 10]);
});

test('a view into a larger buffer is searched alone', () => {
  const view = Buffer.from('aa\nab\naa').subarray(1, 5);
  expect(warmedUp('a').findLines(view)).toEqual([
    { lineStart: 0, lineEnd: 1, matchStart: 0 },
    { lineStart: 2, lineEnd: 4, matchStart: 2 },
  ]);
});

test('a line longer than a batch is one line', () => {
  const line = 'x'.repeat(400_000);
  const matches = warmedUp('y$').findLines(Buffer.from(`${line}\n${line}y\r\n`));
  expect(matches).toEqual([{ lineStart: 400_001, lineEnd: 800_002, matchStart: 800_001 }]);
});
