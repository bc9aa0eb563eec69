import { chmodSync, linkSync, lstatSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import { versionOf } from '#host';
import {
  failureOf,
  insert,
  jailModes,
  remove,
  replace,
  run,
  type TempDir,
  tempDir,
  updateCases,
  updateLines,
} from '#testing';
import type { CoderConfig } from '../config.ts';
import { openCoder } from '../worker.ts';
import { updateFile } from './update-file.ts';

const { call, update, text } = updateCases(updateFile);

const LARGE = { max_write_bytes: 1_000_000 };

test('coder.C43 the reply has what was done, the new version and the lines around', async () => {
  await using dir = await tempDir({ 'a.txt': 'one\ntwo\n' });
  expect(await call(dir, { files: [{ path: 'a.txt', ops: [insert(2, 'inserted')] }], _caller_worker_id: 'x' })).toEqual(
    {
      results: [
        {
          path: 'a.txt',
          success: true,
          applied: 1,
          new_line_count: 3,
          version: versionOf(Buffer.from('one\ninserted\ntwo\n')),
          changes: [{ op: 1, from_line: 1, to_line: 3, content: 'one\ninserted\ntwo' }],
        },
      ],
    },
  );
  expect(text(dir, 'a.txt')).toBe('one\ninserted\ntwo\n');
});

test.each([
  [
    'coder.C44 the quick start',
    '# notes\n- one\n- two\n',
    [insert(2, 'draft'), updateLines(3, 3, '- ONE')],
    '# notes\ndraft\n- one\n- ONE\n',
    4,
  ],
  ['coder.C46 no newline is added', 'a\nb', [insert(3, 'X')], 'a\nb\nX', 3],
  ['coder.C47 an empty file', '', [insert(1, 'X')], 'X', 1],
  ['coder.C53 line operations run first', 'OLD\nkeep\nOLD\n', [replace('OLD', 'NEW'), remove(2, 2)], 'NEW\nNEW\n', 2],
  ['coder.C58 CRLF', 'a\r\nb\r\n', [updateLines(2, 2, 'B')], 'a\r\nB\r\n', 2],
  ['coder.C59 mixed endings', 'a\r\nb\nc\n', [updateLines(3, 3, 'C')], 'a\r\nb\nC\n', 3],
  ['coder.C59 mixed endings under a replacement', 'a\r\nb\nc\n', [replace('c', 'C')], 'a\r\nb\nC\n', 3],
  [
    'replacements run one after the other',
    'ab\n',
    [replace('a', 'b'), replace('b', 'c', { expect_matches: 2 })],
    'cc\n',
    1,
  ],
  ['groups', 'x=1, y=2\n', [replace('(\\w)=(?P<n>\\d)', '${1}: $n$$')], 'x: 1$, y: 2$\n', 1],
  ['ignore_case', 'Foo FOO\n', [replace('foo', 'bar', { ignore_case: true })], 'bar bar\n', 1],
  ['^ is the beginning of the text', 'a\na\n', [replace('^a', 'b')], 'b\na\n', 2],
])('coder.P8 %s', async (_, before, ops, after, new_line_count) => {
  await using dir = await tempDir({ 'a.txt': before });
  expect(await update(dir, 'a.txt', ops)).toMatchObject({ success: true, applied: ops.length, new_line_count });
  expect(text(dir, 'a.txt')).toBe(after);
});

describe('an item fails with C210 and the file stays as it is', () => {
  test.each([
    ['coder.C49', '1\n2\n3\n4\n', [remove(1, 3), updateLines(3, 4, 'x')], /^op 1 .* and op 2 .* overlap$/],
    ['coder.C50', '1\n2\n3\n4\n', [insert(1, 'x'), insert(1, 'y')], /overlap$/],
    ['coder.C52', '1\n2\n', [insert(4, 'x')], /^op 1 \(insert at 4\) does not fit: the file has 2 lines/],
    ['coder.C55', 'a', [replace('[unclosed', 'x')], /unclosed character class/],
    ['coder.C55', 'a', [insert(1, 'x'), replace('', 'x')], /^op 2 \(replace\): `pattern` must not be empty$/],
    ['coder.C62', 'Hello NAME', [replace('NAME', '${name}!')], /^\$\{name\} names no group/],
    ['coder.C65', 'a', [], /^`ops` for a.txt must not be empty$/],
    [
      'expect_matches',
      'a a a\n',
      [replace('a', 'b', { expect_matches: 1 })],
      /^op 1 \(replace\) has 3 matches; expect_matches is 1$/,
    ],
    [
      'expect_matches',
      'a\n',
      [replace('x', 'b', { expect_matches: 1 })],
      /^op 1 \(replace\) has 0 matches; expect_matches is 1$/,
    ],
    ['not UTF-8', Uint8Array.of(0x61, 0xff, 0x0a), [insert(1, 'x')], /^a.txt is not UTF-8 text$/],
  ])('%s', async (_, before, ops, message) => {
    await using dir = await tempDir({ 'a.txt': before });
    const result = await update(dir, 'a.txt', ops);
    expect(result).toEqual({ path: 'a.txt', success: false, applied: 0, new_line_count: 0, error: expect.any(String) });
    expect(failureOf(result)).toEqual({ code: 'C210', message: expect.stringMatching(message) });
    expect(readFileSync(dir.path('a.txt'))).toEqual(Buffer.from(before));
  });
});

test('coder.C64 one that fails stops no other', async () => {
  await using dir = await tempDir({ 'ok.txt': 'a\n', '.env': 'SECRET\n' });
  const paths = ['missing.txt', 'ok.txt', '.env', '../x', '/x', '.'];
  const { results } = await call(dir, { files: paths.map((path) => ({ path, ops: [insert(1, 'x')] })) });
  expect(results.map((result) => (result.success ? 'ok' : failureOf(result).code))).toEqual([
    'C211',
    'ok',
    'C211',
    'C215',
    'C210',
    'C210',
  ]);
  expect(results.map(({ path }) => path)).toEqual(paths);
  expect(text(dir, '.env')).toBe('SECRET\n');
});

test.each([
  ['coder.C65 no files', { files: [] }, '`files` must not be empty'],
  ['no list', {}, 'missing field `files`'],
  [
    'a number as text',
    { files: [{ path: 'a', ops: [{ op: 'insert', at_line: '1', content: '' }] }] },
    '`files[0].ops[0].at_line` must be a number (got a string)',
  ],
  [
    'coder.C70 an unknown operation',
    { files: [{ path: 'a', ops: [{ op: 'frobnicate' }] }] },
    /`files\[0\].ops\[0\].op`/,
  ],
])('%s: the call fails with C210', async (_, payload, message) => {
  await using dir = await tempDir({ a: '' });
  await expect(call(dir, payload)).rejects.toMatchObject({
    code: 'C210',
    message: message instanceof RegExp ? expect.stringMatching(message) : message,
  });
});

test('coder.C68 the same file twice in one call: the second sees what the first made', async () => {
  await using dir = await tempDir({ 'a.txt': 'a\n', alias: { symlink: 'a.txt' } });
  const { results } = await call(dir, {
    files: [
      { path: 'a.txt', ops: [insert(1, 'first')] },
      { path: 'alias', ops: [updateLines(1, 1, 'second')] },
    ],
  });
  expect(results).toMatchObject([{ success: true }, { success: true }]);
  expect(text(dir, 'a.txt')).toBe('second\na\n');
});

test('the caps are inclusive, before and after the edit', async () => {
  await using dir = await tempDir({ fits: 'x'.repeat(4095), full: 'x'.repeat(4096), large: 'x'.repeat(4097) });
  expect(await update(dir, 'fits', [replace('^', 'y')])).toMatchObject({ success: true });
  expect(failureOf(await update(dir, 'full', [replace('^', 'y')]))).toEqual({
    code: 'C213',
    message: 'full is 4097 bytes; the limit is 4096 (max_write_bytes)',
  });
  expect(failureOf(await update(dir, 'large', [remove(1, 1)]))).toMatchObject({ code: 'C213' });
  expect(text(dir, 'full')).toBe('x'.repeat(4096));
});

describe.each(jailModes())('%s jail', (_, way) => {
  const updateIn = async (dir: TempDir, path: string, ops: object[]) => {
    const config = { base_path: dir.path('ws'), fsync: true };
    const open = (parsed: unknown, log: Parameters<typeof openCoder>[1]) =>
      openCoder(parsed as CoderConfig, log, undefined, way);
    return (await run(updateFile, { files: [{ path, ops }] }, config, { open })).results[0]!;
  };

  test('coder.P8 coder.C61 mode and owner stay, also special bits and whatever the umask', async () => {
    await using dir = await tempDir({ 'ws/run.sh': 'a\n' });
    chmodSync(dir.path('ws/run.sh'), 0o2755);
    const before = statSync(dir.path('ws/run.sh'));
    const umask = process.umask(0o077);
    try {
      expect(await updateIn(dir, 'run.sh', [insert(1, 'x')])).toMatchObject({ success: true });
    } finally {
      process.umask(umask);
    }
    const after = statSync(dir.path('ws/run.sh'));
    expect([after.mode, after.uid, after.gid]).toEqual([before.mode, before.uid, before.gid]);
  });

  test('coder.C67 a link inside is followed and stays a link', async () => {
    await using dir = await tempDir({ 'ws/t.txt': 'a\n', 'ws/folder/l': { symlink: '../t.txt' } });
    expect(await updateIn(dir, 'folder/l', [insert(1, 'x')])).toMatchObject({ success: true, path: 'folder/l' });
    expect(text(dir, 'ws/t.txt')).toBe('x\na\n');
    expect(lstatSync(dir.path('ws/folder/l')).isSymbolicLink()).toBe(true);
  });

  test('links to the outside or to nothing are C215, and what is outside stays', async () => {
    await using dir = await tempDir({
      'outside/x.txt': 'SECRET\n',
      'ws/out': { symlink: '../outside/x.txt' },
      'ws/outdir': { symlink: '../outside' },
      'ws/dangling': { symlink: 'nothing' },
      'ws/loop': { symlink: 'loop' },
    });
    for (const path of ['out', 'outdir/x.txt', 'outdir/new', 'dangling', 'dangling/x', 'loop', '../outside/x.txt']) {
      expect(failureOf(await updateIn(dir, path, [insert(1, 'x')]))).toMatchObject({ code: 'C215' });
    }
    expect(text(dir, 'outside/x.txt')).toBe('SECRET\n');
  });

  test('a hard link gets its own content', async () => {
    await using dir = await tempDir({ 'outside.txt': 'a\n', 'ws/': '' });
    linkSync(dir.path('outside.txt'), dir.path('ws/hard.txt'));
    expect(await updateIn(dir, 'hard.txt', [insert(1, 'x')])).toMatchObject({ success: true });
    expect([text(dir, 'outside.txt'), text(dir, 'ws/hard.txt')]).toEqual(['a\n', 'x\na\n']);
  });

  test.each([
    ['a folder', 'folder', 'C210'],
    ['a FIFO', 'pipe', 'C210'],
    ['below a file', 'a.txt/x', 'C216'],
    ['below nothing', 'no/where/x', 'C211'],
  ])('%s is not a file to edit', async (_, path, code) => {
    await using dir = await tempDir({ 'ws/folder/': '', 'ws/pipe': { fifo: true }, 'ws/a.txt': '' });
    expect(failureOf(await updateIn(dir, path, [insert(1, 'x')]))).toMatchObject({ code });
  });
});

test('coder.C56 a replacement without a match changes nothing and says so', async () => {
  await using dir = await tempDir({ 'a.txt': 'x\n' });
  expect(await update(dir, 'a.txt', [replace('nomatch', 'y')])).toMatchObject({
    success: true,
    applied: 0,
    matches: 0,
    note: 'no match for op 1',
    changes: [],
  });
  expect(await update(dir, 'a.txt', [replace('x', 'y'), replace('nomatch', '')])).toMatchObject({
    success: true,
    applied: 1,
    matches: 1,
    note: 'no match for op 2',
  });
  expect(await update(dir, 'a.txt', [insert(1, 'z')])).not.toHaveProperty('matches');
});

test.each([
  ['an operation that must match', { must_match: true }, undefined, 'C210'],
  ['a model', {}, 'model', 'C210'],
  ['a model that does not mind', { must_match: false }, 'model', undefined],
  ['a program on the bus', {}, undefined, undefined],
] as const)('a replacement without a match for %s', async (_, more, door, code) => {
  await using dir = await tempDir({ 'a.txt': 'x\n' });
  const ops = [insert(1, 'new'), replace('nomatch', 'y', more)];
  const payload = { files: [{ path: 'a.txt', ops }] };
  const { results } = await run(updateFile, payload, { base_path: dir.root }, { door });
  const { success, error } = results[0]!;
  expect([success, error && (JSON.parse(error) as { code: string }).code]).toEqual([code === undefined, code]);
  expect(readFileSync(dir.path('a.txt'), 'utf8')).toBe(code === undefined ? 'new\nx\n' : 'x\n');
});

test('nothing is written when nothing changes', async () => {
  await using dir = await tempDir({ 'a.txt': 'a\nb\n' });
  utimesSync(dir.path('a.txt'), 1, 1);
  const before = statSync(dir.path('a.txt'));
  const ops = [updateLines(1, 1, 'a'), replace('b', 'b'), replace('nomatch', '')];
  expect(await update(dir, 'a.txt', ops)).toMatchObject({ success: true, applied: 2, note: 'no match for op 3' });
  const after = statSync(dir.path('a.txt'));
  expect([after.ino, after.mtimeMs]).toEqual([before.ino, before.mtimeMs]);
});

test('edits of one file at the same time are all there afterwards', async () => {
  await using dir = await tempDir({ 'a.txt': '', alias: { symlink: 'a.txt' } });
  const edits = Array.from({ length: 50 }, (_, i) =>
    call(dir, { files: [{ path: i % 2 ? 'alias' : './a.txt', ops: [insert(1, `${i}`)] }] }, { fsync: i % 3 === 0 }),
  );
  const replies = await Promise.all(edits);
  expect(replies.every(({ results }) => results[0]!.success)).toBe(true);
  expect(
    text(dir, 'a.txt')
      .split('\n')
      .toSorted((a, b) => Number(a) - Number(b)),
  ).toEqual(Array.from({ length: 50 }, (_, i) => `${i}`));
});

test('callers that edit at the same time get each the text of their own files', async () => {
  const callers = Array.from({ length: 8 }, (_, caller) =>
    Array.from({ length: 12 }, (_file, i) => ({
      path: `${caller}/${i}/a.txt`,
      body: `${caller} ${i}\n`.repeat(i % 3 === 0 ? 20_000 : 10 * i),
    })),
  );
  const files = callers.flat();
  await using dir = await tempDir(Object.fromEntries(files.map(({ path, body }) => [path, `first\n${body}`])));
  const versions = await Promise.all(
    callers.map(async (own) => {
      const reported = [];
      for (const { path } of own) {
        const { results } = await call(dir, { files: [{ path, ops: [updateLines(1, 1, path)] }] }, LARGE);
        reported.push(results[0]!.version);
      }
      return reported;
    }),
  );
  const made = files.map(({ path, body }) => `${path}\n${body}`);
  expect(files.map(({ path }, i) => text(dir, path) === made[i])).toEqual(files.map(() => true));
  expect(versions.flat()).toEqual(made.map((whole) => versionOf(Buffer.from(whole))));
});

test('a file that another program changes during an edit is not overwritten', async () => {
  await using dir = await tempDir({ 'a.txt': 'a\n' });
  const editing = call(dir, { files: [{ path: 'a.txt', ops: [insert(1, 'x')] }] }, { fsync: true });
  await new Promise((resolve) => setImmediate(resolve));
  writeFileSync(dir.path('a.txt'), 'another program\n');
  const { results } = await editing;
  expect([results[0]!.success, text(dir, 'a.txt')]).toBeOneOf([
    [false, 'another program\n'],
    [true, 'another program\n'],
  ]);
});
