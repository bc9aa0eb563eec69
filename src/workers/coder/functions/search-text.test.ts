import { writeFileSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import { run, tempDir } from '#testing';
import { search } from './search.ts';

const find = (base_path: string, payload: object) => run(search, payload, { base_path });
const lines = ({ content_matches }: Awaited<ReturnType<typeof find>>) =>
  content_matches.map(({ path, line, column, text }) => `${path}:${line}:${column}:${text}`);

test('coder.C22 columns count bytes of UTF-8', async () => {
  await using dir = await tempDir({ f: 'é needle' });
  expect(lines(await find(dir.root, { query: 'needle' }))).toEqual(['f:1:4:é needle']);
  expect(lines(await find(dir.root, { query: 'n.edle', regex: true }))).toEqual(['f:1:4:é needle']);
  expect(lines(await find(dir.root, { query: 'NEEDLE', ignore_case: true }))).toEqual(['f:1:4:é needle']);
});

describe('coder.C38 ignoring case', () => {
  test.each([
    ['ASCII', 'hello', 'Say HeLLo', 5],
    ['both sides', 'HELLO', 'hello', 1],
    ['beyond ASCII', 'ÉCOLE', 'une École', 5],
    ['the Kelvin sign is a k', 'k', 'x\u212A', 2],
    ['a k in the query finds it too', '\u212A', 'ok', 2],
    ['a dotted capital I holds an i', 'i', '\u0130', 1],
    ['columns are those of the lower-cased line', 'x', '\u212Ax', 2],
    ['a final sigma is another letter', 'ΟΔΟΣ', 'οδος', 1],
    ['brackets are not letters', '[a]', '[A]', 1],
  ])('%s', async (_, query, text, column) => {
    await using dir = await tempDir({ f: `one\n${text}\n` });
    expect(lines(await find(dir.root, { query, ignore_case: true }))).toEqual([`f:2:${column}:${text}`]);
  });

  test.each([
    ['a long s is not an s', 's', '\u017F'],
    ['neighbours of letters are not letters', '@[', '`{'],
    ['a sigma inside a word is not a final one', 'ΟΔΟΣ', 'οδοσα'],
  ])('%s', async (_, query, text) => {
    await using dir = await tempDir({ f: text });
    expect(lines(await find(dir.root, { query, ignore_case: true }))).toEqual([]);
  });

  test('a regex folds by its own rules', async () => {
    await using dir = await tempDir({ f: 'x\u017F\u212A' });
    const payload = { query: 'xsk', regex: true, ignore_case: true };
    expect(lines(await find(dir.root, payload))).toEqual(['f:1:1:x\u017F\u212A']);
  });
});

test('coder.C40 a match beyond the cut is found, and the text is cut between characters', async () => {
  const line = `${'é'.repeat(2500)}needle`;
  await using dir = await tempDir({ f: line });
  expect(await find(dir.root, { query: 'needle', max_line_bytes: 4096 })).toMatchObject({
    content_matches: [{ line: 1, column: 5001, text: 'é'.repeat(2048) }],
  });
  for (const [max_line_bytes, text] of [
    [0, ''],
    [1, ''],
    [3, 'é'],
  ] as const) {
    expect(await find(dir.root, { query: 'needle', max_line_bytes })).toMatchObject({ content_matches: [{ text }] });
  }
});

describe('texts', () => {
  test('a file with a NUL byte anywhere is counted and matches by its path only', async () => {
    await using dir = await tempDir({ 'hit.bin': `hit\n${'x'.repeat(9000)}\0` });
    expect(await find(dir.root, { query: 'hit' })).toMatchObject({
      content_matches: [],
      path_matches: [{ path: 'hit.bin' }],
      files_searched: 0,
      files_binary: 1,
    });
  });

  test.each([
    ['literal', { query: 'hit' }],
    ['ignoring case', { query: 'HIT', ignore_case: true }],
    ['regex', { query: 'h.t', regex: true }],
  ])('bytes that are not UTF-8 show as U+FFFD, and columns count those (%s)', async (_, payload) => {
    await using dir = await tempDir({ f: Buffer.from('first\n\xff\xe2\x82hit\xff\n', 'latin1') });
    expect(lines(await find(dir.root, payload))).toEqual(['f:2:7:\uFFFD\uFFFDhit\uFFFD']);
  });

  test('U+FFFD finds what it stands for', async () => {
    await using dir = await tempDir({ f: Buffer.from('a\xffb', 'latin1') });
    for (const payload of [{ query: 'a\uFFFDb' }, { query: 'a\uFFFDb', regex: true }]) {
      expect(lines(await find(dir.root, payload))).toEqual(['f:1:1:a\uFFFDb']);
    }
  });

  test('one carriage return at the end of a line is not part of it', async () => {
    await using dir = await tempDir({ f: 'a hit\r\nb\r\r\nhit\r' });
    expect(lines(await find(dir.root, { query: 'hit' }))).toEqual(['f:1:3:a hit', 'f:3:1:hit']);
    expect(lines(await find(dir.root, { query: 'hit$', regex: true }))).toEqual(['f:1:3:a hit', 'f:3:1:hit']);
    expect(lines(await find(dir.root, { query: '\r' }))).toEqual(['f:2:2:b\r']);
    expect(lines(await find(dir.root, { query: 'hit\r' }))).toEqual([]);
  });

  test('a query with a newline is in no line', async () => {
    await using dir = await tempDir({ f: 'a\nb' });
    expect(lines(await find(dir.root, { query: 'a\nb' }))).toEqual([]);
    expect(lines(await find(dir.root, { query: 'a\\nb', regex: true }))).toEqual([]);
  });

  test('a byte order mark is part of the first line', async () => {
    await using dir = await tempDir({ f: '\uFEFFhit' });
    expect(lines(await find(dir.root, { query: 'hit' }))).toEqual(['f:1:4:\uFEFFhit']);
  });

  test('a line counts once', async () => {
    await using dir = await tempDir({ f: 'hit hit\nhit' });
    expect(lines(await find(dir.root, { query: 'hit' }))).toEqual(['f:1:1:hit hit', 'f:2:1:hit']);
  });

  test('an empty match is a match of every line', async () => {
    await using dir = await tempDir({ f: 'a\n\nb\n', empty: '' });
    expect(lines(await find(dir.root, { query: 'x*', regex: true }))).toEqual(['f:1:1:a', 'f:2:1:', 'f:3:1:b']);
  });

  test('a name that is not UTF-8 is shown as well as text can', async () => {
    await using dir = await tempDir();
    writeFileSync(Buffer.concat([Buffer.from(`${dir.root}/`), Buffer.from([0x61, 0xff])]), 'hit');
    expect(lines(await find(dir.root, { query: 'hit' }))).toEqual(['a\uFFFD:1:1:hit']);
  });
});

test('context lines come with each match, as far as there are any', async () => {
  await using dir = await tempDir({ f: 'one\r\ntwo\nhit\n\nfive' });
  const hit = (context_lines: number) => find(dir.root, { query: 'hit', context_lines });
  expect((await hit(1)).content_matches).toEqual([
    { path: 'f', line: 3, column: 1, text: 'hit', before: ['two'], after: [''] },
  ]);
  expect((await hit(10)).content_matches).toMatchObject([{ before: ['one', 'two'], after: ['', 'five'] }]);
  expect((await hit(0)).content_matches).toEqual([{ path: 'f', line: 3, column: 1, text: 'hit' }]);
});

test('globs made to explode do not', async () => {
  const name = 'a'.repeat(200);
  await using dir = await tempDir({ [name]: 'hit' });
  const bomb = `${'*a'.repeat(40)}*b`;
  expect(lines(await find(dir.root, { query: 'hit', include_globs: [bomb] }))).toEqual([]);
  expect(lines(await find(dir.root, { query: 'hit', exclude_globs: [bomb] }))).toEqual([`${name}:1:1:hit`]);
});
