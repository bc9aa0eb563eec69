import { chmodSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import { announce } from '#contract';
import { jailModes, NOBODY_UID, run, tempDir } from '#testing';
import type { CoderConfig } from '../config.ts';
import { coder } from '../index.ts';
import { openCoder } from '../worker.ts';
import { search } from './search.ts';

const find = (base_path: string, payload: object, config: object = {}) =>
  run(search, payload, { base_path, ...config });
const lines = ({ content_matches }: Awaited<ReturnType<typeof find>>) =>
  content_matches.map(({ path, line, column, text }) => `${path}:${line}:${column}:${text}`);
const paths = ({ path_matches }: Awaited<ReturnType<typeof find>>) => path_matches.map(({ path }) => path);

describe.each(jailModes())('%s jail', (_, way) => {
  const find = (base_path: string, payload: object) =>
    run(
      search,
      payload,
      { base_path },
      { open: (parsed, log) => openCoder(parsed as CoderConfig, log, undefined, way) },
    );

  test('coder.C20 a literal is found with its line and column', async () => {
    await using dir = await tempDir({ 'notes.md': 'hello\ngoodbye world\n' });
    expect(await find(dir.root, { query: 'goodbye' })).toEqual({
      content_matches: [{ path: 'notes.md', line: 2, column: 1, text: 'goodbye world' }],
      path_matches: [],
      truncated: false,
      files_searched: 1,
      files_binary: 0,
      files_too_large: 0,
      skipped: [],
    });
  });

  test('coder.C23 a regex sees each line by itself', async () => {
    await using dir = await tempDir({ 'a.rs': 'fn foo\nfn Bar\n' });
    expect(lines(await find(dir.root, { query: '^fn [A-Z]', regex: true }))).toEqual(['a.rs:2:1:fn Bar']);
  });

  test('links are neither followed nor searched', async () => {
    await using dir = await tempDir({
      'd/f': 'needle',
      link: { symlink: 'd' },
      'to-file': { symlink: 'd/f' },
      out: { symlink: '/etc' },
      pipe: { fifo: true },
    });
    expect(lines(await find(dir.root, { query: 'needle' }))).toEqual(['d/f:1:1:needle']);
    expect(lines(await find(dir.root, { query: 'needle', path: 'link' }))).toEqual(['d/f:1:1:needle']);
  });
});

test('coder.C25 paths are searched without contents', async () => {
  await using dir = await tempDir({ 'src/foo.rs': 'foo' });
  expect(await find(dir.root, { query: 'foo', search_content: false })).toMatchObject({
    content_matches: [],
    path_matches: [{ path: 'src/foo.rs' }],
  });
  expect(paths(await find(dir.root, { query: '^src/f', regex: true }))).toEqual(['src/foo.rs']);
  expect(paths(await find(dir.root, { query: 'FOO.rs', ignore_case: true }))).toEqual(['src/foo.rs']);
  expect(paths(await find(dir.root, { query: 'foo', search_paths: false }))).toEqual([]);
});

test('coder.C26 globs choose files by their path from base_path', async () => {
  await using dir = await tempDir({ 'src/a.rs': 'needle', 'src/b.ts': 'needle', 'build/c.rs': 'needle' });
  const payload = { query: 'needle', include_globs: ['**/*.rs'], exclude_globs: ['build/**'] };
  expect(lines(await find(dir.root, payload))).toEqual(['src/a.rs:1:1:needle']);
  expect(lines(await find(dir.root, { query: 'needle', include_globs: ['sr*s'] }))).toHaveLength(2);
  expect(lines(await find(dir.root, { ...payload, path: 'src' }))).toEqual(['src/a.rs:1:1:needle']);
});

test('coder.C28 a search in a folder still returns paths from base_path', async () => {
  await using dir = await tempDir({ 'a/hit': 'x', 'b/hit': 'x' });
  expect(paths(await find(dir.root, { query: 'hit', path: 'a' }))).toEqual(['a/hit']);
});

test('coder.C29 protected files are in neither list', async () => {
  await using dir = await tempDir({ '.env': 'banana', 'ok.txt': 'banana', 'secrets/k': 'banana' });
  expect(lines(await find(dir.root, { query: 'banana' }))).toEqual(['ok.txt:1:1:banana']);
  expect(lines(await find(dir.root, { query: 'banana', path: 'secrets' }))).toEqual([]);
  expect(paths(await find(dir.root, { query: '.env' }))).toEqual([]);
});

test('coder.P11 coder.C31 a file over max_read_bytes matches by its path only, and is counted', async () => {
  await using dir = await tempDir({ 'hit.txt': 'hit hit hit', 'fits.txt': 'hit hit hi' });
  expect(await find(dir.root, { query: 'hit' }, { max_read_bytes: 10 })).toMatchObject({
    content_matches: [{ path: 'fits.txt' }],
    path_matches: [{ path: 'hit.txt' }],
    files_searched: 1,
    files_too_large: 1,
  });
});

describe('coder.C32 caps', () => {
  const three = { a: 'hit\nhit', b: 'hit', c: 'miss' };

  test.each([
    [2, ['a:1:1:hit', 'a:2:1:hit'], true],
    [3, ['a:1:1:hit', 'a:2:1:hit', 'b:1:1:hit'], false],
    [0, [], true],
    [1, ['a:1:1:hit'], true],
  ])('%i content matches', async (max_matches, expected, truncated) => {
    await using dir = await tempDir(three);
    const answer = await find(dir.root, { query: 'hit', max_matches, search_paths: false });
    expect([lines(answer), answer.truncated]).toEqual([expected, truncated]);
  });

  test('the first path too many ends the search, with the content of that file', async () => {
    await using dir = await tempDir({ 'hit-1': 'hit', 'hit-2': 'hit', z: 'hit' });
    const answer = await find(dir.root, { query: 'hit', max_matches: 1 });
    expect([lines(answer), paths(answer), answer.truncated]).toEqual([['hit-1:1:1:hit'], ['hit-1'], true]);
    expect(await find(dir.root, { query: 'hit', max_matches: 1, search_content: false })).toMatchObject({
      path_matches: [{ path: 'hit-1' }],
      truncated: true,
    });
  });

  test('nothing found is nothing truncated, whatever the cap', async () => {
    await using dir = await tempDir(three);
    expect(await find(dir.root, { query: 'nope', max_matches: 0 })).toMatchObject({ truncated: false });
  });

  test('the default comes from the configuration, and null means it', async () => {
    await using dir = await tempDir(three);
    const config = { search_default_max_matches: 1 };
    expect(lines(await find(dir.root, { query: 'hit', max_matches: null }, config))).toEqual(['a:1:1:hit']);
  });
});

test.each([
  ['coder.C34 an empty query', { query: '' }, 'query is empty; send the text or regex to search for'],
  ['coder.C34 nothing to search in', { query: 'x', search_content: false, search_paths: false }, /both off/],
  ['coder.C35 a bad regex', { query: '[', regex: true }, /unclosed character class at character 1/],
  ['coder.C35 a bad glob', { query: 'x', include_globs: ['['] }, /^bad glob "\["/],
  ['a bad glob to exclude', { query: 'x', exclude_globs: ['{'] }, /^bad glob "\{"/],
  ['a query without end', { query: 'x'.repeat(65_537) }, 'query is 65537 bytes; the limit is 65536'],
  ['no query', {}, 'missing field `query`'],
  ['too much context', { query: 'x', context_lines: 11 }, /context_lines/],
])('%s is C210', async (_, payload, message) => {
  await using dir = await tempDir();
  await expect(find(dir.root, payload)).rejects.toMatchObject({
    code: 'C210',
    message: typeof message === 'string' ? message : expect.stringMatching(message),
  });
});

test('refusals come in the order of the contract', async () => {
  await using dir = await tempDir();
  const bad = { query: '[', regex: true, path: 'nope', include_globs: ['['], exclude_globs: ['{'] };
  await expect(find(dir.root, { ...bad, query: '' })).rejects.toThrow('query is empty');
  await expect(find(dir.root, bad)).rejects.toMatchObject({ code: 'C211' });
  await expect(find(dir.root, { ...bad, path: '.' })).rejects.toThrow('bad glob "["');
  await expect(find(dir.root, { ...bad, path: '.', include_globs: [] })).rejects.toThrow('bad glob "{"');
});

test('coder.P11 coder.C37 hidden files, .git and ignored files are searched', async () => {
  await using dir = await tempDir({
    '.hidden/x': 'needle',
    '.git/y': 'needle',
    '.gitignore': 'z.txt',
    'z.txt': 'needle',
  });
  const found = (await find(dir.root, { query: 'needle' })).content_matches.map(({ path }) => path);
  expect(found).toEqual(['.git/y', '.hidden/x', 'z.txt']);

  const respectful = await find(dir.root, { query: 'needle', respect_gitignore: true });
  expect(respectful.content_matches.map(({ path }) => path)).toEqual(['.hidden/x']);
});

test('coder.P11 coder.C41 the order is that of the bytes of the paths, every time', async () => {
  const names = ['a/x', 'a-b', 'a.b', 'a0', 'A', 'é', '～', '😀', 'a/b/c', 'a/b-c', 'a/b.c', 'b'];
  await using dir = await tempDir(Object.fromEntries(names.map((name) => [name, 'hit'])));
  const sorted = names.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const first = await find(dir.root, { query: 'hit' });
  expect(first.content_matches.map(({ path }) => path)).toEqual(sorted);
  expect(await find(dir.root, { query: 'hit' })).toEqual(first);
});

test('coder.C106 an extra field is ignored', async () => {
  await using dir = await tempDir({ f: 'x' });
  expect(lines(await find(dir.root, { query: 'x', _caller_worker_id: 'w-1' }))).toEqual(['f:1:1:x']);
});

test.runIf(process.getuid?.() === 0)('what cannot be read is reported and does not fail the search', async () => {
  await using dir = await tempDir({
    'a.txt': { content: 'hit', mode: 0 },
    'b.txt': 'hit',
    'closed/c.txt': 'hit',
  });
  chmodSync(dir.root, 0o755);
  chmodSync(dir.path('closed'), 0);
  process.seteuid!(NOBODY_UID);
  try {
    expect(await find(dir.root, { query: 'hit' })).toMatchObject({
      content_matches: [{ path: 'b.txt' }],
      files_searched: 1,
      skipped: [
        { path: 'a.txt', reason: 'denied' },
        { path: 'closed', reason: 'denied' },
      ],
    });
  } finally {
    process.seteuid!(0);
  }
});

test('the schemas hold every field of the contract as it is there', () => {
  const { request_format, response_format } = announce(coder, search);
  const field = (schema: unknown) => {
    const { description: _, ...rest } = schema as Record<string, unknown>;
    return rest;
  };
  const bool = (value: boolean) => ({ type: 'boolean', default: value });
  const strings = { type: 'array', items: { type: 'string' }, default: [] };
  const optional = { type: ['integer', 'null'], format: 'uint32', minimum: 0, default: null };
  const request = request_format.properties as Record<string, object>;
  expect(Object.fromEntries(Object.entries(request).map(([name, schema]) => [name, field(schema)]))).toMatchObject({
    query: { type: 'string' },
    path: { type: 'string', default: '.' },
    regex: bool(false),
    ignore_case: bool(false),
    include_globs: strings,
    exclude_globs: strings,
    max_matches: optional,
    max_line_bytes: optional,
    search_content: bool(true),
    search_paths: bool(true),
  });
  expect([request_format.title, request_format.required]).toEqual(['SearchInput', ['query']]);

  const definitions = response_format.definitions as Record<string, { required: string[] }>;
  expect(definitions.ContentMatch!.required.toSorted()).toEqual(['column', 'line', 'path', 'text']);
  expect(definitions.PathMatch!.required).toEqual(['path']);
  expect(response_format).toMatchObject({
    title: 'SearchOutput',
    required: ['content_matches', 'path_matches', 'truncated'],
    properties: {
      content_matches: { type: 'array', items: { $ref: '#/definitions/ContentMatch' } },
      path_matches: { type: 'array', items: { $ref: '#/definitions/PathMatch' } },
      truncated: { type: 'boolean' },
    },
  });
});
