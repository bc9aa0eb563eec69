import {
  linkSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';

import { describe, expect, test } from 'vitest';

import { run, tempDir, type TempDir } from '#testing';
import { sed } from './sed.ts';

const config = (dir: TempDir) => ({ fs: { host_root: dir.path('j'), denylist_paths: [dir.path('j/d/secret')] } });
const call = (dir: TempDir, payload: object) => run(sed, payload, config(dir));
const textOf = (dir: TempDir, name: string) => readFileSync(dir.path(name), 'utf8');

/** The text after an edit of a file of its own, and how often something was replaced. */
async function edited(text: string | Uint8Array, edit: object): Promise<[string, number]> {
  await using dir = await tempDir({ 'j/f': text });
  const { total_replacements } = await call(dir, { files: [dir.path('j/f')], ...edit });
  return [textOf(dir, 'j/f'), total_replacements];
}

test('shell.F47 groups are referred to by number', async () => {
  const edit = { pattern: '(\\w+) loves (\\w+)', replacement: '$2 then $1' };
  expect(await edited('Alice loves Bob\n', edit)).toEqual(['Bob then Alice\n', 1]);
});

test('shell.F48 first_only is the first of each line', async () => {
  const edit = { pattern: 'foo', replacement: 'bar' };
  expect(await edited('foo foo\nfoo\n', { ...edit, first_only: true })).toEqual(['bar foo\nbar\n', 2]);
  expect(await edited('foo foo\nfoo\n', edit)).toEqual(['bar bar\nbar\n', 3]);
});

describe('shell.P14 a line is taken without its ending', () => {
  test.each([
    ['the end of a line', 'a \r\nb \nc ', { pattern: '\\s+$', replacement: '' }, 'a\r\nb\nc'],
    ['mixed endings stay', 'x\r\nx\nx\rx', { pattern: 'x', replacement: 'y' }, 'y\r\ny\ny\ry'],
    ['no pattern reaches over lines', 'a\nb\n', { pattern: 'a\\nb', replacement: '' }, 'a\nb\n'],
    ['every line has a beginning', 'a\n\nb\n', { pattern: '^', replacement: '> ' }, '> a\n> \n> b\n'],
    ['a byte order mark stays', '\uFEFFx\n', { pattern: 'x', replacement: 'y' }, '\uFEFFy\n'],
    ['a missing newline stays missing', 'x', { pattern: 'x', replacement: 'y' }, 'y'],
    ['a NUL is a character', 'a\0b', { pattern: 'a\\x00', replacement: 'A' }, 'Ab'],
  ])('%s', async (_, before, edit, after) => {
    expect((await edited(before, edit))[0]).toBe(after);
  });
});

test.each([
  ['shell.F56 dollars stay', { pattern: 'X', replacement: 'a$b', ignore_case: true }, 'x.y', 'a$b.y'],
  ['dollars stay with case too', { pattern: 'x', replacement: '$1$$' }, 'x', '$1$$'],
  ['nothing in it is special', { pattern: '.*[a]+(b)|^$\\', replacement: '!' }, '-.*[a]+(b)|^$\\-', '-!-'],
  ['other alphabets', { pattern: 'É#&~', replacement: 'e', ignore_case: true }, 'é#&~', 'e'],
])('a literal: %s', async (_, edit, before, after) => {
  expect(await edited(before, { ...edit, regex: false })).toEqual([after, 1]);
});

test.each([
  ['shell.F50 an empty literal', { pattern: '', replacement: 'x', regex: false }, 'S210'],
  ['shell.F50 a bad regex', { pattern: '(', replacement: 'x' }, 'S217'],
  ['a reference to no group', { pattern: '(x)', replacement: '$1a' }, 'S210'],
  ['a name of no group', { pattern: 'x', replacement: '${name}' }, 'S210'],
])('%s is refused before anything is written', async (_, edit, code) => {
  await using dir = await tempDir({ 'j/f': 'x' });
  await expect(call(dir, { files: [dir.path('j/f')], ...edit })).rejects.toMatchObject({ code });
  expect(textOf(dir, 'j/f')).toBe('x');
});

test('shell.F51 one path that may not be touched fails the call, and no file is changed', async () => {
  await using dir = await tempDir({ 'o/x': 'x', 'j/f': 'x', 'j/d/secret': 'x' });
  for (const bad of ['o/x', 'j/d/secret', 'j/../o/x']) {
    const files = [dir.path('j/f'), dir.path(bad)];
    await expect(call(dir, { files, pattern: 'x', replacement: 'y' })).rejects.toMatchObject({ code: 'S215' });
  }
  expect(['o/x', 'j/f', 'j/d/secret'].map((name) => textOf(dir, name))).toEqual(['x', 'x', 'x']);
});

test('a file that is missing, no file or no text fails by itself', async () => {
  await using dir = await tempDir({ 'j/f': 'x', 'j/d/': '', 'j/bin': Buffer.from([0x78, 0xff]) });
  const files = ['j/gone', 'j/d', 'j/bin', 'j/f'].map(dir.path);
  expect(await call(dir, { files, pattern: 'x', replacement: 'y' })).toEqual({
    results: [
      { path: files[0], replacements: 0, success: false, error: `${files[0]} does not exist` },
      { path: files[1], replacements: 0, success: false, error: `${files[1]} is not a regular file` },
      { path: files[2], replacements: 0, success: false, error: `${files[2]} is not UTF-8 text` },
      { path: files[3], replacements: 1, success: true },
    ],
    total_replacements: 1,
  });
});

test('a file that would grow beyond max_write_bytes fails by itself, and one that stays as it is does not', async () => {
  await using dir = await tempDir({ 'j/grows': 'x\n'.repeat(6), 'j/large': 'y'.repeat(30), 'j/fits': 'x\n' });
  const files = ['j/grows', 'j/large', 'j/fits'].map(dir.path);
  const limited = { fs: { ...config(dir).fs, max_write_bytes: 20 } };
  expect(await run(sed, { files, pattern: 'x', replacement: 'long' }, limited)).toEqual({
    results: [
      {
        path: files[0],
        replacements: 0,
        success: false,
        error: 'with its replacements the text is larger than 20 bytes',
      },
      { path: files[1], replacements: 0, success: true },
      { path: files[2], replacements: 1, success: true },
    ],
    total_replacements: 1,
  });
  expect(['j/grows', 'j/fits'].map((name) => textOf(dir, name))).toEqual(['x\n'.repeat(6), 'long\n']);
});

test.each(['include_glob', 'exclude_glob'])('more than 256 of %s are refused', async (field) => {
  await using dir = await tempDir({ 'j/f': 'x' });
  const globs = Array.from({ length: 257 }, () => '*');
  const edit = { path: dir.path('j'), pattern: 'x', replacement: 'y', [field]: globs };
  await expect(call(dir, edit)).rejects.toMatchObject({
    code: 'S210',
    message: 'bad glob "*": a list holds at most 256 globs',
  });
});

test('shell.P14 shell.F53 the mode stays, special bits too', async () => {
  await using dir = await tempDir({ 'j/f': { content: 'x', mode: 0o4755 } });
  await call(dir, { files: [dir.path('j/f')], pattern: 'x', replacement: 'y' });
  expect(statSync(dir.path('j/f')).mode & 0o7777).toBe(0o4755);
});

test('shell.P14 shell.F54 a file without a match is not touched', async () => {
  await using dir = await tempDir({ 'j/f': 'text\r\n' });
  utimesSync(dir.path('j/f'), 1000, 1000);
  const before = statSync(dir.path('j/f'));
  expect(await call(dir, { files: [dir.path('j/f')], pattern: 'nothing', replacement: '' })).toEqual({
    results: [{ path: dir.path('j/f'), replacements: 0, success: true }],
    total_replacements: 0,
    note: 'no match in 1 files: nothing was changed',
  });
  const { ino, mtimeMs, ctimeMs } = statSync(dir.path('j/f'));
  expect([ino, mtimeMs, ctimeMs]).toEqual([before.ino, before.mtimeMs, before.ctimeMs]);
});

test('shell.F57 a link is followed and stays a link', async () => {
  await using dir = await tempDir({ 'j/f': 'x', 'j/link': { symlink: 'f' } });
  await call(dir, { files: [dir.path('j/link')], pattern: 'x', replacement: 'y' });
  expect([readlinkSync(dir.path('j/link')), textOf(dir, 'j/f')]).toEqual(['f', 'y']);
});

describe('below a path', () => {
  const TREE = {
    'j/d/a.txt': 'x',
    'j/d/b.md': 'x',
    'j/d/sub/c.txt': 'x',
    'j/d/secret/s.txt': 'x',
    'j/d/out': { symlink: '../../o/x' },
    'j/d/target/t.txt': 'x',
    'o/x': 'x',
  } as const;
  const found = async (dir: TempDir, more: object) => {
    const { results } = await call(dir, { pattern: 'x', replacement: 'y', ...more });
    return results.map(({ path }) => path.slice(dir.path('j').length + 1));
  };

  test.each([
    ['all files in order', {}, ['d/a.txt', 'd/b.md', 'd/sub/c.txt', 'd/target/t.txt']],
    ['included ones', { include_glob: ['*.txt'] }, ['d/a.txt', 'd/sub/c.txt', 'd/target/t.txt']],
    ['but excluded ones', { exclude_glob: ['**/target/**', '*.md'] }, ['d/a.txt', 'd/sub/c.txt']],
    ['but folders that are named', { exclude_glob: ['target', 'sub/', 'b.md/'] }, ['d/a.txt', 'd/b.md']],
    ['by their path', { include_glob: ['sub/*'] }, ['d/sub/c.txt']],
  ])('%s', async (_, globs, expected) => {
    await using dir = await tempDir(TREE);
    expect(await found(dir, { path: dir.path('j/d'), ...globs })).toEqual(expected);
    expect([textOf(dir, 'o/x'), textOf(dir, 'j/d/secret/s.txt')]).toEqual(['x', 'x']);
    expect(lstatSync(dir.path('j/d/out')).isSymbolicLink()).toBe(true);
  });

  test('one file', async () => {
    await using dir = await tempDir(TREE);
    expect(await found(dir, { path: dir.path('j/d/b.md'), recursive: false, include_glob: ['*.txt'] })).toEqual([
      'd/b.md',
    ]);
  });

  test.each([
    ['neither files nor path', {}, 'S210'],
    ['an empty list of files', { files: [] }, 'S210'],
    ['both', { files: ['j/d/a.txt'], path: 'j/d' }, 'S210'],
    ['a directory without recursive', { path: 'j/d', recursive: false }, 'S210'],
    ['a path that is missing', { path: 'j/gone', pattern: '(' }, 'S211'],
    ['a denylisted directory', { path: 'j/d/secret' }, 'S215'],
  ])('%s is refused', async (_, { files, path, ...more }: { files?: string[]; path?: string }, code) => {
    await using dir = await tempDir(TREE);
    const where = { ...(files && { files: files.map(dir.path) }), ...(path && { path: dir.path(path) }) };
    await expect(call(dir, { pattern: 'x', replacement: 'y', ...where, ...more })).rejects.toMatchObject({ code });
    expect(textOf(dir, 'j/d/a.txt')).toBe('x');
  });

  test('a name that is not text is reported and left alone', async () => {
    await using dir = await tempDir({ 'j/d/': '' });
    writeFileSync(Buffer.from(`${dir.path('j/d')}/\xff`, 'latin1'), 'x');
    const { results } = await call(dir, { path: dir.path('j/d'), pattern: 'x', replacement: 'y' });
    expect(results).toMatchObject([{ success: false, replacements: 0 }]);
    expect(readFileSync(Buffer.from(`${dir.path('j/d')}/\xff`, 'latin1'), 'utf8')).toBe('x');
  });
});

test('other names of the file keep the old content, and nothing is left beside it', async () => {
  await using dir = await tempDir({ 'j/f': 'x' });
  linkSync(dir.path('j/f'), dir.path('j/hard'));
  await call(dir, { files: [dir.path('j/f')], pattern: 'x', replacement: 'y' });
  expect([textOf(dir, 'j/f'), textOf(dir, 'j/hard')]).toEqual(['y', 'x']);
  expect(readdirSync(dir.path('j'))).toEqual(['f', 'hard']);
});

test('edits of one file at once do not lose each other', async () => {
  await using dir = await tempDir({ 'j/f': '' });
  writeFileSync(dir.path('j/f'), Array.from({ length: 20 }, (_, i) => `[${i}]`).join('\n'));
  await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      call(dir, { files: [dir.path('j/f')], pattern: `\\[${i}\\]`, replacement: `done ${i}` }),
    ),
  );
  expect(textOf(dir, 'j/f')).not.toContain('[');
});
