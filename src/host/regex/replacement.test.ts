import { readFileSync } from 'node:fs';

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { rounds } from '#testing';
import { compileRegex, literalReplacement, parseReplacement, ReplacementError } from './index.ts';

type Row = [pattern: string, text: string, replacement: string, truth: string];
const { replacements }: { replacements: Row[] } = JSON.parse(
  readFileSync(new URL('../fixtures/regex.json', import.meta.url), 'utf8'),
);

/** References that the crate replaces by nothing. */
const REFUSED = new Set(['$1b', '$x', '${ 1}', '${}']);

function replace(pattern: string, text: string, replacement: string): string {
  const regex = compileRegex(pattern);
  return Buffer.from(regex.replaceAll(Buffer.from(text), parseReplacement(replacement, regex)).bytes).toString();
}

test.each(replacements)('the recorded truth of %j on %j by %j', (pattern, text, replacement, truth) => {
  if (REFUSED.has(replacement) || pattern === 'zz') {
    expect(() => replace(pattern, text, replacement)).toThrow(ReplacementError);
    return;
  }
  expect(replace(pattern, text, replacement)).toBe(truth);
});

describe('coder.P10 a reference to no group is refused by name', () => {
  test.each([
    ['a', '$1', '$1 names no group of the regex "a"; write $$ for a dollar sign'],
    ['(a)', 'x${name}', '${name} names no group of the regex "(a)"; write $$ for a dollar sign'],
    ['(a)', '$1st', '$1st names no group of the regex "(a)"; write ${1}st for group 1 and then text'],
    ['(a)', '$$$2', '$2 names no group of the regex "(a)"; write $$ for a dollar sign'],
  ])('%j with %j', (pattern, replacement, message) => {
    expect(() => parseReplacement(replacement, compileRegex(pattern))).toThrow(message);
  });

  test('and a group that took no part is not', () => {
    expect(replace('(a)|(b)', 'ab', '[$1|$2]')).toBe('[a|][|b]');
  });
});

test('counts, and stops at the limit', () => {
  const regex = compileRegex('a+');
  const text = Buffer.from('a aa aaa');
  const dash = literalReplacement('-');
  expect(regex.replaceAll(text, dash)).toEqual({ bytes: Buffer.from('- - -'), count: 3 });
  expect(regex.replaceAll(text, dash, { limit: 2 })).toEqual({ bytes: Buffer.from('- - aaa'), count: 2 });
  expect(regex.replaceAll(text, dash, { limit: 0 })).toEqual({ bytes: text, count: 0 });
});

test('gives back the haystack itself when nothing matches', () => {
  const text = Buffer.from('text');
  expect(compileRegex('z').replaceAll(text, literalReplacement('')).bytes).toBe(text);
});

test('refuses bytes that are not UTF-8', () => {
  const replacing = () => compileRegex('a').replaceAll(Buffer.of(0xff, 0x61), literalReplacement('b'));
  expect(replacing).toThrow('regex "a": the text to replace in is not UTF-8');
});

test('a literal replacement is put in as it is', () => {
  const property = fc.property(fc.string({ unit: fc.constantFrom('$', '1', '{', '}', 'a', 'é') }), (replacement) => {
    const { bytes } = compileRegex('(x)').replaceAll(Buffer.from('axb'), literalReplacement(replacement));
    expect(Buffer.from(bytes).toString()).toBe(`a${replacement}b`);
  });
  fc.assert(property);
});

test('groups are put where JavaScript would put them', { timeout: 60_000 }, () => {
  const sub = fc.constantFrom('a', 'b+', 'é?', '[^a]', '(?:a|bb)', '日*?', '');
  const group = fc.constantFrom('(a)', '(b+)?', '(é?)', '([^a])?', '(a|bb)', '(日*?)', '()');
  const pattern = fc.tuple(group, sub, group).map((parts) => parts.join(''));
  const reference = fc.constantFrom('${1}', '$2', '$0', '$$', '-', 'é');
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '日', '\n'), maxLength: 15 });

  const property = fc.property(pattern, fc.array(reference, { maxLength: 5 }), text, (source, parts, haystack) => {
    const template = parts.map((part) => (part === '$2' ? '${2}' : part)).join('');
    expect(replace(source, haystack, template)).toBe(replaceByJavaScript(source, haystack, parts));
  });
  fc.assert(property, { numRuns: rounds(60, 300, 3000) });
});

/** JavaScript would also replace an empty match right after another match, which the crate passes over. */
function replaceByJavaScript(pattern: string, text: string, parts: string[]): string {
  let lastEnd = -1;
  return text.replace(new RegExp(pattern, 'gu'), (whole: string, one = '', two = '', at: number) => {
    const isAfterLast = whole === '' && at === lastEnd;
    lastEnd = at + whole.length;
    const values: Record<string, string> = { '${1}': one, $2: two, $0: whole, $$: '$' };
    return isAfterLast ? '' : parts.map((part) => values[part] ?? part).join('');
  });
}
