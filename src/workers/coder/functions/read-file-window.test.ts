import { createHash } from 'node:crypto';

import fc from 'fast-check';
import { expect, test } from 'vitest';

import { parseConfig, silentLog, type CallScope } from '#contract';
import { rounds, run, tempDir } from '#testing';
import { coder, openCoder } from '../worker.ts';
import { readFile } from './read-file.ts';

const TEXT = 'one\ntwo\r\nthree\n\nfive';
const FACTS = { path: 'file', size: TEXT.length, mode: expect.any(Number), mtime: expect.any(Number) };

const show = (base_path: string, payload: object, max_read_bytes = 4096) =>
  run(readFile, { path: 'file', ...payload }, { base_path, max_read_bytes });

test.each([
  ['from a line on', { line_from: 3 }, 'three\n\nfive', { line_from: 3, line_to: 5 }],
  ['up to a line', { line_to: 2 }, 'one\ntwo\r\n', { line_from: 1, line_to: 2, next_line_from: 3 }],
  ['one line', { line_from: 4, line_to: 4 }, '\n', { line_from: 4, line_to: 4, next_line_from: 5 }],
  ['past the end', { line_from: 5, line_to: 99 }, 'five', { line_from: 5, line_to: 5 }],
  ['all of it', { line_from: 1, line_to: null }, TEXT, { line_from: 1, line_to: 5 }],
  ['with numbers', { numbered: true }, '1\tone\n2\ttwo\r\n3\tthree\n4\t\n5\tfive', { line_from: 1, line_to: 5 }],
])('%s', async (_, payload, content, lines) => {
  await using dir = await tempDir({ file: TEXT });
  expect(await show(dir.root, payload)).toEqual({
    ...FACTS,
    content,
    is_utf8: true,
    version: `sha256:${createHash('sha256').update(TEXT).digest('hex')}`,
    total_lines: 5,
    truncated: false,
    ...lines,
  });
});

test('numbers are right-aligned to the longest', async () => {
  await using nine = await tempDir({ file: 'x\n'.repeat(9) });
  expect((await show(nine.root, { numbered: true, line_from: 9 })).content).toBe('9\tx\n');
  await using dir = await tempDir({ file: 'x\n'.repeat(100) });
  expect((await show(dir.root, { numbered: true, line_from: 9, line_to: 10 })).content).toBe(' 9\tx\n10\tx\n');
  expect((await show(dir.root, { numbered: true, line_from: 99 })).content).toBe(' 99\tx\n100\tx\n');
});

test.each([
  ['whole lines as they fit', { max_output_bytes: 9 }, 'one\ntwo\r\n', 2, 3],
  ['a line that would fit but for one byte', { max_output_bytes: 8 }, 'one\n', 1, 2],
  ['the numbers count', { max_output_bytes: 12, numbered: true }, '1\tone\n', 1, 2],
  ['the numbers count, and just fit', { max_output_bytes: 13, numbered: true }, '1\tone\n2\ttwo\r\n', 2, 3],
])('cut: %s', async (_, payload, content, line_to, next_line_from) => {
  await using dir = await tempDir({ file: TEXT });
  expect(await show(dir.root, payload)).toMatchObject({ content, truncated: true, line_to, next_line_from });
});

test.each([
  ['between two characters', { max_output_bytes: 6 }, 'aé日'],
  ['not inside one', { max_output_bytes: 5 }, 'aé'],
  ['nor inside one of four bytes', { max_output_bytes: 9 }, 'aé日'],
  ['with its number', { max_output_bytes: 8, numbered: true }, '1\taé日'],
  ['down to nothing', { max_output_bytes: 1, numbered: true }, ''],
])('a single line that does not fit is cut %s', async (_, payload, content) => {
  await using dir = await tempDir({ file: 'aé日😀\nnext\n' });
  expect(await show(dir.root, payload)).toMatchObject({
    content,
    is_utf8: true,
    line_from: 1,
    line_to: 1,
    truncated: true,
    last_line_cut: true,
    next_line_from: 2,
    total_lines: 2,
  });
});

test('the last line cut has no next', async () => {
  await using dir = await tempDir({ file: 'a\nlonger' });
  const last = await show(dir.root, { line_from: 2, max_output_bytes: 3 });
  expect(last).toMatchObject({ content: 'lon', truncated: true, last_line_cut: true, total_lines: 2 });
  expect(last).not.toHaveProperty('next_line_from');
});

test('an empty file has a first line to begin with, and no second', async () => {
  await using dir = await tempDir({ file: '' });
  const nothing = { content: '', line_from: 1, line_to: 0, total_lines: 0, truncated: false };
  expect(await show(dir.root, { line_from: 1 })).toMatchObject(nothing);
  expect(await show(dir.root, { numbered: true })).toMatchObject(nothing);
  await expect(show(dir.root, { line_from: 2 })).rejects.toMatchObject({
    code: 'C210',
    message: 'line_from is 2; file has 0 lines; send a smaller line_from',
  });
});

test.each([
  ['past the end', { line_from: 6 }, 'line_from is 6; file has 5 lines; send a smaller line_from'],
  ['the wrong way round', { line_from: 3, line_to: 2 }, 'line_to 2 is before line_from 3'],
  ['line 0', { line_from: 0 }, '`line_from` must be at least 1 (got 0)'],
  ['no room', { max_output_bytes: 0 }, '`max_output_bytes` must be at least 1 (got 0)'],
])('%s is C210', async (_, payload, message) => {
  await using dir = await tempDir({ file: TEXT });
  for (const max_read_bytes of [4096, 5]) {
    await expect(show(dir.root, payload, max_read_bytes)).rejects.toMatchObject({ code: 'C210', message });
  }
});

test('a file over max_read_bytes may be read by windows, without a version, and the cap holds for each', async () => {
  await using dir = await tempDir({ file: TEXT });
  await expect(show(dir.root, {}, 8)).rejects.toMatchObject({ code: 'C213' });
  expect(await show(dir.root, { line_from: 3, line_to: 4 }, 8)).toEqual({
    ...FACTS,
    content: 'three\n\n',
    is_utf8: true,
    line_from: 3,
    line_to: 4,
    total_lines: 5,
    truncated: false,
    next_line_from: 5,
  });
  expect(await show(dir.root, { line_from: 1, max_output_bytes: 1_000_000 }, 8)).toMatchObject({
    content: 'one\n',
    truncated: true,
    next_line_from: 2,
  });
});

test('pages that follow next_line_from are the file, whatever they cut at', async () => {
  const line = fc.string({ maxLength: 30, size: 'max', unit: fc.constantFrom('a', 'é', '日', '😀', '\r', '\n') });
  const ways = fc.record({
    max_output_bytes: fc.integer({ min: 130, max: 300 }),
    numbered: fc.boolean(),
    isSmall: fc.boolean(),
  });
  await using dir = await tempDir();
  await fc.assert(
    fc.asyncProperty(
      fc.array(line, { minLength: 1, maxLength: 40, size: 'max' }),
      ways,
      async (lines, { isSmall, ...way }) => {
        const text = lines.join('\n');
        dir.add({ file: text });
        const pages = [];
        for (let line_from: number | undefined = 1; line_from !== undefined; line_from = pages.at(-1)!.next_line_from) {
          pages.push(await show(dir.root, { ...way, line_from }, isSmall ? 1_000_000 : way.max_output_bytes));
        }
        const shown = pages.map(({ content }) => content).join('');
        expect(way.numbered ? shown.replaceAll(/(?<=^|\n) *\d+\t/g, '') : shown).toBe(text);
        expect(pages.every(({ content }) => Buffer.byteLength(content) <= way.max_output_bytes)).toBe(true);
        expect(pages.map(({ truncated }) => truncated)).toEqual(pages.map((_, i) => i < pages.length - 1));
      },
    ),
    { numRuns: rounds(30, 100, 1000) },
  );
});

test('lines deep in a large file, the number of lines once the end was met', async () => {
  const lines = Array.from({ length: 300_000 }, (_, i) => `line ${i + 1}\n`);
  await using dir = await tempDir({ file: lines.join('') });
  const context = openCoder(
    parseConfig(coder.config, { base_path: dir.root, max_read_bytes: 4096 }, 'coder'),
    silentLog,
  );
  const scope = { signal: new AbortController().signal } as CallScope;
  const show = (payload: object) =>
    readFile.handle(readFile.request.parse({ path: 'file', ...payload }), context, scope);

  const early = await show({ line_from: 5, line_to: 6 });
  expect(early).toMatchObject({ content: 'line 5\nline 6\n', next_line_from: 7 });
  expect(early).not.toHaveProperty('total_lines');

  const deep = await show({ line_from: 299_990, line_to: 299_991 });
  expect(deep).toMatchObject({ content: 'line 299990\nline 299991\n', total_lines: 300_000 });
  expect(await show({ line_from: 100_000, line_to: 100_000 })).toMatchObject({ content: 'line 100000\n' });
  await expect(show({ line_from: 300_001 })).rejects.toMatchObject({
    message: 'line_from is 300001; file has 300000 lines; send a smaller line_from',
  });
});
