import { utimesSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import { filesystemCases, tempDir, type ActionReply, type TempDir } from '#testing';
import { openFilesystem } from '../worker.ts';
import { ls } from './ls.ts';

const namesIn = ({ data }: ActionReply) => (data!.entries as { name: string }[]).map(({ name }) => name);
const pathsIn = ({ data }: ActionReply, dir: TempDir) =>
  (data!.entries as { path: string }[]).map(({ path }) => path.slice(dir.path('ws').length + 1));

describe.each(['descriptor', 'portable'] as const)('%s jail', (mode) => {
  const call = filesystemCases(openFilesystem, mode);
  const listing = (dir: TempDir, payload: object = {}, config = {}) => call(ls, dir, payload, config);

  test('with respect_gitignore a list of everything below leaves out .git and ignored files; one directory is whole', async () => {
    await using dir = await tempDir({
      'ws/.gitignore': 'build/\n*.log',
      'ws/.git/head': '',
      'ws/build/x': '',
      'ws/src/a.log': '',
      'ws/src/b': '',
    });
    const request = { include_hidden: true, respect_gitignore: true };
    expect(pathsIn(await listing(dir, { ...request, recursive: true }), dir)).toEqual(['.gitignore', 'src', 'src/b']);
    expect(pathsIn(await listing(dir, request), dir)).toEqual(['.git', '.gitignore', 'build', 'src']);
    expect(ls.modelDefaults).toEqual({ respect_gitignore: true });
  });

  test('filesystem.D19 entries come with path, type, size and time, dotfiles only when asked for', async () => {
    await using dir = await tempDir({
      'ws/a.py': 'x'.repeat(7),
      'ws/.h': '',
      'ws/d/x': '',
      'ws/link': { symlink: '/etc' },
    });
    utimesSync(dir.path('ws/a.py'), 1.5, 1.5);
    const reply = await listing(dir);
    expect(reply).toEqual({
      success: true,
      data: {
        path: dir.path('ws'),
        entries: [
          { name: 'a.py', path: dir.path('ws/a.py'), type: 'file', size: 7, modified: 1.5 },
          expect.objectContaining({ name: 'd', path: dir.path('ws/d'), type: 'directory' }),
          expect.objectContaining({ name: 'link', path: dir.path('ws/link'), type: 'symlink' }),
        ],
        count: 3,
        truncated: false,
      },
    });
    expect(namesIn(await listing(dir, { include_hidden: true }))).toEqual(['.h', 'a.py', 'd', 'link']);
    expect(namesIn(await listing(dir, { pattern: '*.py' }))).toEqual(['a.py']);
    expect(namesIn(await listing(dir, { pattern: '{a,l}*' }))).toEqual(['a.py', 'link']);
  });

  test('filesystem.D20 with recursive everything below is listed, and links are not entered', async () => {
    await using dir = await tempDir({
      'ws/d/x.py': '',
      'ws/d/e/y.py': '',
      'ws/d-1': '',
      'ws/.git/config': '',
      'ws/out': { symlink: '../other' },
      'other/SECRET': '',
    });
    expect(pathsIn(await listing(dir, { recursive: true }), dir)).toEqual([
      'd',
      'd/e',
      'd/e/y.py',
      'd/x.py',
      'd-1',
      'out',
    ]);
    expect(pathsIn(await listing(dir, { recursive: true, pattern: '*.py' }), dir)).toEqual(['d/e/y.py', 'd/x.py']);
    expect(pathsIn(await listing(dir, { recursive: true, pattern: 'd/*.py' }), dir)).toEqual(['d/x.py']);
    expect(pathsIn(await listing(dir, { path: 'd', recursive: true, pattern: 'e/**' }), dir)).toEqual(['d/e/y.py']);
    const hidden = await listing(dir, { recursive: true, include_hidden: true, pattern: 'config' });
    expect(pathsIn(hidden, dir)).toEqual(['.git/config']);
  });

  test.each([true, false])('the list ends with max_results and says so (recursive: %s)', async (recursive) => {
    await using dir = await tempDir({ 'ws/c': '', 'ws/a': '', 'ws/b': '' });
    const few = await listing(dir, { recursive, max_results: 2 });
    expect([namesIn(few), few.data!.count, few.data!.truncated]).toEqual([['a', 'b'], 2, true]);
    const all = await listing(dir, { recursive, max_results: 3 });
    expect([namesIn(all), all.data!.truncated]).toEqual([['a', 'b', 'c'], false]);
  });

  test.each([
    ['a file', { path: 'f' }, '$/f is not a directory', 'F212'],
    ['what is missing', { path: 'no' }, '$/no does not exist (ENOENT)', 'F211'],
    ['the folder above', { path: '..' }, "Path '$$' is outside allowed paths", 'F215'],
    ['a link to the outside', { path: 'out' }, "Path '$$/other' is outside allowed paths", 'F215'],
    ['an invalid glob', { pattern: '[a' }, 'glob "[a" cannot be read: unclosed character class', 'F210'],
    ['no results', { max_results: 0 }, '`max_results` must be at least 1 (got 0)', 'F210'],
  ])('%s is refused', async (_, payload, error, code) => {
    await using dir = await tempDir({ 'ws/f': '', 'ws/out': { symlink: '../other' }, 'other/': '' });
    expect(await listing(dir, payload)).toEqual({
      success: false,
      error:
        code === 'F210' && 'pattern' in payload
          ? expect.stringContaining('[a')
          : error.replace('$$', dir.root).replace('$', dir.path('ws')),
      metadata: { code },
    });
  });
});

test('the first names of a huge directory are right, whatever order it is read in', async () => {
  const names = Array.from({ length: 9000 }, (_, i) => `n${String((i * 7919) % 9000).padStart(4, '0')}`);
  await using dir = await tempDir(Object.fromEntries(names.map((name) => [`ws/${name}`, ''])));
  const call = filesystemCases(openFilesystem, 'descriptor');
  const sorted = names.toSorted();
  const first = await call(ls, dir, {});
  expect([namesIn(first), first.data!.truncated]).toEqual([sorted.slice(0, 1000), true]);
  const some = await call(ls, dir, { pattern: '*7', max_results: 5 });
  expect(namesIn(some)).toEqual(sorted.filter((name) => name.endsWith('7')).slice(0, 5));
  const below = await call(ls, dir, { recursive: true, max_results: 10_000 });
  expect([namesIn(below), below.data!.truncated]).toEqual([sorted, false]);
});
