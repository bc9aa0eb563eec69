import fc from 'fast-check';
import { expect, test } from 'vitest';

import { rounds } from '#testing/basics';
import { FindingsReader, FindingsWriter, MAX_ANSWER_CHARS } from '../findings.ts';
import { writeJsonLines } from './json-lines.ts';
import { writeLines } from './lines.ts';
import { createMatcher } from './matcher.ts';
import type { SearchAnswer } from '../query.ts';
import { Tally } from '../answer-builder.ts';
import { TextMemory, TEXT_START } from './text-memory.ts';

const memory = new TextMemory();

const QUERY = {
  isRegex: false,
  ignoreCase: false,
  wantsContent: true,
  wantsPaths: false,
  maxMatches: 1000,
  maxLineBytes: 4096,
  contextLines: 0,
  maxFileBytes: 2 ** 30,
};

interface File {
  path: string;
  text: string | Buffer;
}

/** The answer of a search through the files, with lines written in one of the two ways. */
function answerOf(files: readonly File[], query: typeof QUERY & { pattern: string }, isJson: boolean): SearchAnswer {
  const matcher = createMatcher(query, undefined, memory);
  const writer = new FindingsWriter(query);
  for (const { path, text: content } of files) {
    const bytes = Buffer.from(content as string);
    memory.reserve(TEXT_START + bytes.length);
    memory.buffer.set(bytes, TEXT_START);
    const found = matcher.find({ start: TEXT_START, end: TEXT_START + bytes.length }, query.maxMatches + 1);
    writer.count(1);
    if (found.hits.length === 0) continue;
    writer.addFile(path, { isPathMatch: false, lineCount: found.hits.length });
    if (isJson) writeJsonLines(writer, { memory, path, query, ...found });
    else writeLines(writer, { memory, query, ...found });
  }
  const tally = new Tally(query);
  tally.add(new FindingsReader(writer.take()), () => false);
  const { contentJson, ...answer } = tally.answer;
  expect(contentJson !== undefined).toBe(isJson && answer.contentMatches.length + (contentJson?.json.length ?? 0) > 0);
  return contentJson ? { ...answer, contentMatches: contentJson.decode() } : answer;
}

test('an answer is the same whether its lines came as JSON or not', () => {
  const piece = fc.constantFrom(
    'hit',
    'Hit',
    ' "q" ',
    '\\',
    '\t',
    '\n',
    '\r\n',
    '\u0001',
    'é',
    '日本',
    '\u0130',
    'x'.repeat(40),
    'plain ',
  );
  const text = fc.array(piece, { maxLength: 40, size: 'max' }).map((pieces) => pieces.join(''));
  const files = fc.array(fc.record({ path: fc.constantFrom('a', 'd/"b"', 'é/\n', 'c\\d'), text }), { maxLength: 5 });
  const query = fc.record({
    pattern: fc.constantFrom('hit', 'h', 'é', ' '),
    ignoreCase: fc.boolean(),
    maxMatches: fc.constantFrom(1, 3, 1000),
    maxLineBytes: fc.constantFrom(5, 50, 4096),
  });
  fc.assert(
    fc.property(files, query, (all, asked) => {
      const [json, plain] = [true, false].map((isJson) => answerOf(all, { ...QUERY, ...asked }, isJson));
      expect(json).toEqual(plain);
    }),
    { numRuns: rounds(500, 500, 5000) },
  );
});

test('bytes that are not UTF-8 are shown as they are elsewhere', () => {
  const text = Buffer.concat([
    Buffer.from('a\n'),
    Buffer.from([0xff, 0xc3]),
    Buffer.from(' hit \xe9\nhit\n', 'latin1'),
  ]);
  const [json, plain] = [true, false].map((isJson) =>
    answerOf([{ path: 'p', text }], { ...QUERY, pattern: 'hit' }, isJson),
  );
  expect(json).toEqual(plain);
});

test('more lines than are written at once, and more text than an answer holds', () => {
  const files = [{ path: 'many', text: 'a hit\n'.repeat(3000) }];
  const query = { ...QUERY, pattern: 'hit', maxMatches: 100_000, maxLineBytes: MAX_ANSWER_CHARS };
  expect(answerOf(files, query, true)).toEqual(answerOf(files, query, false));

  const large = { path: 'large', text: `${'x'.repeat(MAX_ANSWER_CHARS / 4)} hit\n`.repeat(6) };
  const { contentMatches, isTruncated } = answerOf([large], query, true);
  expect([contentMatches.length, isTruncated]).toEqual([3, true]);
});
