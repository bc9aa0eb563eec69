import fc from 'fast-check';
import { expect, test } from 'vitest';

import { rounds } from '#testing/basics';
import { compileRegex } from '../../regex/index.ts';
import { RegexMatcher } from './regex-matcher.ts';
import { TextMemory, TEXT_START } from './text-memory.ts';

/** Where the first match begins in each line, searched alone. */
function plainly(pattern: string, text: Buffer): number[][] {
  const regex = compileRegex(pattern);
  const found: number[][] = [];
  for (let start = 0; start < text.length;) {
    const newline = text.indexOf(10, start) < 0 ? text.length : text.indexOf(10, start);
    const end = newline > start && text[newline - 1] === 13 ? newline - 1 : newline;
    const match = regex.find(text.subarray(start, end));
    if (match) found.push([start, end, start + match.start]);
    start = newline + 1;
  }
  return found;
}

test('lines are found as if each were searched alone, whatever is looked for first', () => {
  const memory = new TextMemory();
  const words = [
    'struct',
    ' ',
    'a_ops',
    '_op',
    'ABC-123',
    'AB-1',
    'X',
    '99',
    '\n',
    '\r\n',
    'é',
    'useMemo',
    'useCall',
    '(',
    'filler '.repeat(9),
  ];
  const patterns = [
    '\\bstruct\\s+\\w+_ops\\b',
    '[A-Z]{3}-[0-9]{3,}',
    '(?i)[a-c]{2}-1',
    'use(?:Memo|Call)\\(',
    '[0-9]+$',
    '^[X-Z][0-9]',
    '(?-u:\\s)X(?-u:\\s)',
    '(?:struct|ABC).*[0-9][0-9]',
  ];
  const texts = fc.array(
    fc.array(fc.constantFrom(...words), { maxLength: 60, size: 'max' }).map((parts) => parts.join('')),
    { maxLength: 6 },
  );
  fc.assert(
    fc.property(fc.constantFrom(...patterns), texts, (pattern, all) => {
      const matcher = new RegexMatcher(compileRegex(pattern), memory);
      for (const text of all.map((each) => Buffer.from(each))) {
        memory.reserve(TEXT_START + text.length);
        memory.buffer.set(text, TEXT_START);
        const { hits } = matcher.find({ start: TEXT_START, end: TEXT_START + text.length }, Infinity);
        const rows = hits.map(({ lineStart, lineEnd, matchStart }) => [lineStart, lineEnd, matchStart]);
        expect(rows.map((row) => row.map((at) => at - TEXT_START))).toEqual(plainly(pattern, text));
      }
    }),
    { numRuns: rounds(125, 500, 5000) },
  );
});

test('a text of the same length at the same place is another text', () => {
  const memory = new TextMemory();
  const matcher = new RegexMatcher(compileRegex('one|two|three'), memory);
  const filler = `${'-'.repeat(200)}\n`;
  for (const word of ['one ', 'nope', 'two ', 'one ']) {
    const text = Buffer.from(filler + word);
    memory.buffer.set(text, TEXT_START);
    const { hits } = matcher.find({ start: TEXT_START, end: TEXT_START + text.length }, Infinity);
    expect(hits).toHaveLength(word === 'nope' ? 0 : 1);
  }
});
