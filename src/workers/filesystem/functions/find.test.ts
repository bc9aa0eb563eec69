import { chmodSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import { filesystemCases, run, tempDir, type TempDir } from '#testing';
import { openFilesystem } from '../worker.ts';
import { find } from './find.ts';

describe.each(['descriptor', 'portable'] as const)('%s jail', (mode) => {
  const call = filesystemCases(openFilesystem, mode);
  const finding = async (dir: TempDir, pattern: string, more = {}) => {
    const { data, error } = await call(find, dir, { pattern, ...more });
    if (!data) return error;
    return (data.matches as string[]).map((path) => path.slice(dir.path('ws').length + 1));
  };

  test('filesystem.D25 names match at any depth; types and max_results are honoured', async () => {
    await using dir = await tempDir({ 'ws/a.py': '', 'ws/d/b.py': '', 'ws/py/': '', 'ws/x.txt': '' });
    expect(await call(find, dir, { pattern: '*.py', type: 'file' })).toEqual({
      success: true,
      data: { matches: [dir.path('ws/a.py'), dir.path('ws/d/b.py')], count: 2, truncated: false },
    });
    expect(await finding(dir, '*.py', { type: 'dir' })).toEqual([]);
    expect(await finding(dir, 'py', { type: 'dir' })).toEqual(['py']);
    expect(await finding(dir, '*py')).toEqual(['a.py', 'd/b.py', 'py']);
    expect(await call(find, dir, { pattern: '*.py', max_results: 1 })).toMatchObject({
      data: { matches: [dir.path('ws/a.py')], count: 1, truncated: true },
    });
    expect(await call(find, dir, { pattern: '*.py', max_results: 2 })).toMatchObject({ data: { truncated: false } });
  });

  test.each([
    ['*', ['.hidden', 'a', 'a/b', 'a/b/c.ts', 'a/x.ts', 'link', 'x.ts']],
    ['*.ts', ['a/b/c.ts', 'a/x.ts', 'x.ts']],
    ['a/*.ts', ['a/x.ts']],
    ['a/**/*.ts', ['a/b/c.ts', 'a/x.ts']],
    ['**/x.ts', ['a/x.ts', 'x.ts']],
    ['/x.ts', ['x.ts']],
    ['.hidden', ['.hidden']],
    ['?.ts', ['a/b/c.ts', 'a/x.ts', 'x.ts']],
    ['[!x].ts', ['a/b/c.ts']],
    ['link', ['link']],
    ['SECRET', []],
  ])('%s', async (pattern, expected) => {
    await using dir = await tempDir({
      'ws/.hidden': '',
      'ws/a/b/c.ts': '',
      'ws/a/x.ts': '',
      'ws/x.ts': '',
      'ws/link': { symlink: '../other' },
      'other/SECRET': '',
    });
    expect(await finding(dir, pattern)).toEqual(expected);
  });

  test('the search starts at its path, and globs with a slash do too', async () => {
    await using dir = await tempDir({ 'ws/a/b/c.ts': '', 'ws/b/c.ts': '' });
    expect(await finding(dir, 'b/*.ts', { path: dir.path('ws/a') })).toEqual(['a/b/c.ts']);
    expect(await finding(dir, '*', { path: '..' })).toBe(`Path '${dir.root}' is outside allowed paths`);
    expect(await finding(dir, '*', { path: 'a/b/c.ts' })).toBe(`${dir.path('ws/a/b/c.ts')} is not a directory`);
    expect(await finding(dir, '')).toBe('`pattern` must be at least 1 (got a string)');
  });

  test('with respect_gitignore .git and what .gitignore files of the allowed path name are not found', async () => {
    await using dir = await tempDir({
      '.gitignore': '*.ts',
      'ws/.gitignore': 'build/\n*.log',
      'ws/.git/x.ts': '',
      'ws/build/x.ts': '',
      'ws/src/.gitignore': '!keep.log\n/x.ts',
      'ws/src/a.log': '',
      'ws/src/keep.log': '',
      'ws/src/x.ts': '',
      'ws/src/in/x.ts': '',
    });
    const all = ['.git/x.ts', 'build/x.ts', 'src/in/x.ts', 'src/x.ts'];
    expect(await finding(dir, '*.ts')).toEqual(all);
    expect(await finding(dir, '*.ts', { respect_gitignore: true })).toEqual(['src/in/x.ts']);
    expect(await finding(dir, '*.{ts,log}', { respect_gitignore: true, path: 'src' })).toEqual([
      'src/in/x.ts',
      'src/keep.log',
    ]);
    expect(await finding(dir, '*.ts', { respect_gitignore: true, path: 'build' })).toEqual(['build/x.ts']);
  });
});

test('a model does not find what is ignored unless it asks', async () => {
  await using dir = await tempDir({ '.gitignore': 'build/', '.git/x.ts': '', 'build/x.ts': '', 'src/x.ts': '' });
  const forModel = async (more = {}) => {
    const { data } = await run(find, { pattern: '*.ts', ...more }, { paths: [dir.root] }, { door: 'model' });
    return data!.matches.map((path) => path.slice(dir.root.length + 1));
  };
  expect(await forModel()).toEqual(['src/x.ts']);
  expect(await forModel({ respect_gitignore: false })).toEqual(['.git/x.ts', 'build/x.ts', 'src/x.ts']);
});

test.skipIf(process.getuid?.() === 0)('what cannot be read is passed over', async () => {
  await using dir = await tempDir({ 'ws/shut/x': '', 'ws/z': '' });
  chmodSync(dir.path('ws/shut'), 0);
  const { data } = await filesystemCases(openFilesystem, 'descriptor')(find, dir, { pattern: '*' });
  chmodSync(dir.path('ws/shut'), 0o755);
  expect(data!.matches).toEqual([dir.path('ws/shut'), dir.path('ws/z')]);
});
