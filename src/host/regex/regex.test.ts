import { readFileSync } from 'node:fs';

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { rounds } from '#testing';
import { compileRegex, RegexError, type Regex, type RegexOptions, type Span } from './index.ts';

type Row = [pattern: string, text: string, truth: string];
const truths: { matches: Row[] } = JSON.parse(readFileSync(new URL('../fixtures/regex.json', import.meta.url), 'utf8'));

/** All matches one after the other, as the crate iterates over them. */
function findEach(regex: Regex, haystack: Uint8Array): Span[] {
  const found: Span[] = [];
  for (let from = 0; from <= haystack.length;) {
    const match = regex.find(haystack, from);
    if (!match) break;

    const isAfterLast = match.start === match.end && match.end === found.at(-1)?.end;
    if (!isAfterLast) found.push(match);
    from = isAfterLast ? nextChar(haystack, match.end) : match.end;
  }
  return found;
}

function nextChar(text: Uint8Array, at: number): number {
  let next = at + 1;
  while (next < text.length && (text[next]! & 0xc0) === 0x80) next++;
  return next;
}

test.each(truths.matches)('coder.P10 the recorded truth of %j on %j', (pattern, text, truth) => {
  if (truth === 'error') {
    expect(() => compileRegex(pattern)).toThrow(RegexError);
    return;
  }
  const spans = findEach(compileRegex(pattern), Buffer.from(text));
  expect(spans.map(({ start, end }) => `${start}-${end}`).join(',')).toBe(truth);
});

describe('a pattern of a dialect shared with JavaScript', () => {
  // No . or \s, which differ, and nothing empty to repeat, where JavaScript stops earlier.
  const atom = fc.constantFrom('a', 'b', 'ab', 'é', '日', '[ab]', '[^a]', '[^b\\n]', '(?:a|é)', '(?:ab|a|b)');
  const repeat = fc.tuple(atom, fc.constantFrom('', '', '*', '+', '?', '*?', '+?', '??', '{2}', '{1,3}', '{0,2}?'));
  const piece = fc.oneof(
    { weight: 4, arbitrary: repeat.map(([sub, times]) => `(?:${sub})${times}`) },
    { weight: 1, arbitrary: fc.constantFrom('^', '$') },
  );
  const concat = fc.array(piece, { maxLength: 4 }).map((pieces) => pieces.join(''));
  const pattern = fc.array(concat, { minLength: 1, maxLength: 3 }).map((branches) => branches.join('|'));
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '日', '\n'), maxLength: 20 });

  test('matches the same bytes', { timeout: 60_000 }, () => {
    const property = fc.property(
      pattern,
      fc.boolean(),
      fc.array(text, { maxLength: 6 }),
      (source, multiLine, texts) => {
        const regex = compileRegex(source, { multiLine });
        for (const each of texts) {
          expect(findEach(regex, Buffer.from(each))).toEqual(spansByJavaScript(source, multiLine, each));
        }
      },
    );
    fc.assert(property, { numRuns: rounds(60, 300, 3000) });
  });
});

/** JavaScript offers an empty match right after another match, which the crate passes over. */
function spansByJavaScript(pattern: string, multiLine: boolean, text: string): Span[] {
  const found: Span[] = [];
  for (const match of text.matchAll(new RegExp(pattern, multiLine ? 'gmu' : 'gu'))) {
    const start = Buffer.byteLength(text.slice(0, match.index));
    const end = start + Buffer.byteLength(match[0]);
    if (start < end || end !== found.at(-1)?.end) found.push({ start, end });
  }
  return found;
}

test.each<[RegexOptions, string, string]>([
  [{ ignoreCase: true }, 'x|k', 'K'],
  [{ multiLine: true }, '^b$', 'a\nb\nc'],
  [{ dotMatchesNewLine: true }, 'a.b', 'a\nb'],
  [{ ignoreCase: true, multiLine: true, dotMatchesNewLine: true }, '^B.c', 'a\nb\nC'],
])('with %j, %j matches %j, and does not without', (options, pattern, text) => {
  expect(compileRegex(pattern, options).isMatch(Buffer.from(text))).toBe(true);
  expect(compileRegex(pattern).isMatch(Buffer.from(text))).toBe(false);
});

test('names groups by number, the whole match first', () => {
  expect(compileRegex('(a)(?<year>b)(?:c)(?P<é>d)').groupNames).toEqual([undefined, undefined, 'year', 'é']);
});

test('what lies before the start still counts for assertions', () => {
  const text = Buffer.from('éa\nab');
  expect(compileRegex('^a').find(text, 2)).toBeUndefined();
  expect(compileRegex('\\ba').find(text, 2)).toEqual({ start: 4, end: 5 });
  expect(compileRegex('(?m)^a').find(text, 4)).toEqual({ start: 4, end: 5 });
  expect(compileRegex('').find(text, text.length)).toEqual({ start: 6, end: 6 });
  expect(compileRegex('').find(text, text.length + 1)).toBeUndefined();
});

describe('refuses, in one line', () => {
  test.each([
    ['a(', 'unclosed group at character 2'],
    ['é(?=b)', 'look-around, including look-ahead and look-behind, is not supported at character 2'],
    ['(a)\\1', 'backreferences are not supported at character 4'],
    ['(?P<a>x)(?P<a>y)', 'duplicate capture group name at character 13'],
    ['(?x)\na(\n', 'unclosed group at line 2, character 2'],
    ['\n'.repeat(10) + '[z-a]', 'invalid character class range, the start must be <= the end at line 11, character 2'],
    ['(a\nb){2,1}', 'invalid repetition count range, the start must be <= the end at line 2, character 3'],
    ['\\w{999}{999}', 'compiles to more than 10485760 bytes'],
  ])('%j', (pattern, reason) => {
    const message = `regex ${JSON.stringify(pattern)}: ${reason}`;
    for (const ignoreCase of [false, true]) {
      const compiling = () => compileRegex(pattern, { ignoreCase });
      expect(compiling).toThrow(expect.objectContaining({ name: 'RegexError', pattern, reason, message }));
    }
  });

  test.each([
    ['a'.repeat(65_537), 'longer than 65536 bytes'],
    ['[a]'.repeat(501), 'more than 500 character classes'],
    [`(?i)${'[\\s\\S]'.repeat(17)}`, 'more than 50 character classes while ignoring case'],
  ])('what would cost too much to read: %#', (pattern, reason) => {
    expect(() => compileRegex(pattern)).toThrow(reason);
  });
});

test('a pattern is compiled once while it is in use', () => {
  const regex = compileRegex('kept[0-9]');
  expect(compileRegex('kept[0-9]')).toBe(regex);
  expect(compileRegex('kept[0-9]', { ignoreCase: true })).not.toBe(regex);

  for (let i = 0; i < 40; i++) compileRegex(`other${i}`);
  expect(compileRegex('kept[0-9]')).not.toBe(regex);
  expect(regex.isMatch(Buffer.from('kept1'))).toBe(true);
});
