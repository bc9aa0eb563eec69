import { describe, expect, test } from 'vitest';

import { compileRegex, literalReplacement, parseReplacement } from './index.ts';

const MB = 1e6;

describe('patterns that make backtracking engines hang', () => {
  test.each([
    ['(a+)+$', 'a'],
    ['(a|aa)+$', 'a'],
    ['(.*)*=x', 'b'],
    ['([a-z]+)*\\d', 'a'],
    ['(x+x+)+y', 'x'],
    ['\\s+$', ' '],
    ['^(([a-z])+.)+[A-Z]([a-z])+$', 'a'],
  ])('%j is done with 100 KB', (pattern, char) => {
    const text = Buffer.from(`${char.repeat(100_000)}!`);
    const regex = compileRegex(pattern);
    expect(regex.isMatch(text)).toBe(false);
    expect(regex.find(text)).toBeUndefined();
    expect(regex.findLines(text)).toEqual([]);
    expect(regex.replaceAll(text, literalReplacement('')).count).toBe(0);
  });

  test('a match that ends before it has seen the whole line costs the line once', () => {
    const text = Buffer.from(`${'A'.repeat(100_000)}\n`.repeat(20));
    expect(compileRegex('.*[^A-Z]|[A-Z]').findLines(text)).toHaveLength(20);
  });
});

test('a text of 100 MB is searched and rewritten', { timeout: 120_000 }, () => {
  const text = Buffer.alloc(100 * MB, `${'lorem ipsum dolor sit amet '.repeat(3)}\n`);
  text.write('needle', 99 * MB);
  const regex = compileRegex('n(ee)dle');

  expect(regex.isMatch(text)).toBe(true);
  expect(regex.find(text)).toEqual({ start: 99 * MB, end: 99 * MB + 6 });
  expect(regex.findLines(text)).toMatchObject([{ matchStart: 99 * MB }]);

  const { bytes, count } = regex.replaceAll(text, parseReplacement('$1', regex));
  expect([count, bytes.length]).toEqual([1, 100 * MB - 4]);
  expect(Buffer.from(bytes.buffer, bytes.byteOffset + 99 * MB, 2).toString()).toBe('ee');
});

test('a result that does not fit is refused, and the regex works on', { timeout: 120_000 }, () => {
  const regex = compileRegex('.');
  const text = Buffer.alloc(2 * MB, 'a');
  const replacing = () => regex.replaceAll(text, literalReplacement('x'.repeat(1_000)));
  expect(replacing).toThrow('regex ".": needs more than 1 GiB of memory for this text');
  expect(regex.replaceAll(text, literalReplacement('')).count).toBe(2 * MB);
});
