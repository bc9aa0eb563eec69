import { describe, expect, test } from 'vitest';

import { filesystemCases, tempDir, type TempDir } from '#testing';
import { openFilesystem } from '../worker.ts';
import { grep } from './grep.ts';

describe.each(['descriptor', 'portable'] as const)('%s jail', (mode) => {
  const call = filesystemCases(openFilesystem, mode);
  const grepping = async (dir: TempDir, pattern: string, more = {}, config = {}) => {
    const { data, error } = await call(grep, dir, { pattern, ...more }, config);
    if (!data) return error;
    const matches = data.matches as { file: string; line: number; text: string }[];
    return matches.map(({ file, line, text }) => `${file.slice(dir.root.length + 1)}:${line}:${text}`);
  };

  test('filesystem.D22 a hundred matches by default', async () => {
    await using dir = await tempDir({ 'ws/f': 'hit\n'.repeat(200) });
    const usual = await call(grep, dir, { pattern: 'hit' });
    expect(usual.data).toMatchObject({ count: 100, truncated: true });
    expect((usual.data!.matches as object[])[99]).toEqual({ file: dir.path('ws/f'), line: 100, text: 'hit' });
    expect((await call(grep, dir, { pattern: 'h.t', max_results: 200 })).data).toMatchObject({
      count: 200,
      truncated: false,
    });
  });

  test('filesystem.D23 case and file names', async () => {
    await using dir = await tempDir({ 'ws/a.py': 'Foo\n', 'ws/d/b.py': 'x\nfoo\n', 'ws/c.txt': 'foo' });
    expect(await grepping(dir, 'foo')).toEqual(['ws/c.txt:1:foo', 'ws/d/b.py:2:foo']);
    expect(await grepping(dir, 'foo', { case_sensitive: false })).toEqual([
      'ws/a.py:1:Foo',
      'ws/c.txt:1:foo',
      'ws/d/b.py:2:foo',
    ]);
    expect(await grepping(dir, '[Ff]oo', { include: '*.py' })).toEqual(['ws/a.py:1:Foo', 'ws/d/b.py:2:foo']);
    expect(await grepping(dir, '[Ff]oo', { include: 'd/*' })).toEqual(['ws/d/b.py:2:foo']);
  });

  test('a file, a directory alone, or everything below', async () => {
    await using dir = await tempDir({
      'ws/a': 'x',
      'ws/d/a': 'x',
      'ws/d/[b]*': 'x',
      'ws/d/e/a': 'x',
      'ws/link': { symlink: 'd/a' },
    });
    expect(await grepping(dir, 'x', { path: 'd' })).toEqual(['ws/d/[b]*:1:x', 'ws/d/a:1:x', 'ws/d/e/a:1:x']);
    expect(await grepping(dir, 'x', { path: 'd', recursive: false })).toEqual(['ws/d/[b]*:1:x', 'ws/d/a:1:x']);
    expect(await grepping(dir, 'x', { path: 'd', recursive: false, include: 'a' })).toEqual(['ws/d/a:1:x']);
    expect(await grepping(dir, 'x', { path: 'd', include: 'e/*' })).toEqual(['ws/d/e/a:1:x']);
    expect(await grepping(dir, 'x', { path: dir.path('ws/a') })).toEqual(['ws/a:1:x']);
    expect(await grepping(dir, 'x', { path: 'd/[b]*' })).toEqual(['ws/d/[b]*:1:x']);
    expect(await grepping(dir, 'x', { path: 'link' })).toEqual(['ws/d/a:1:x']);
  });

  test('hidden files are searched; data, links and what is too large are not', async () => {
    await using dir = await tempDir({
      'ws/.hidden': 'x',
      'ws/data': Uint8Array.of(0x78, 0),
      'ws/large': 'x'.repeat(100),
      'ws/out': { symlink: '../other' },
      'other/SECRET': 'x',
    });
    expect(await grepping(dir, 'x', {}, { max_file_size: 99 })).toEqual(['ws/.hidden:1:x']);
  });

  test('every allowed path is searched by the same rules', async () => {
    await using dir = await tempDir({ 'one/f': 'x', 'two/d/f': 'x', 'two/f': 'x' });
    const config = { paths: [dir.path('one'), dir.path('two')] };
    expect(await grepping(dir, 'x', {}, config)).toEqual(['one/f:1:x']);
    expect(await grepping(dir, 'x', { path: dir.path('two'), include: 'd/*' }, config)).toEqual(['two/d/f:1:x']);
    expect(await grepping(dir, 'x', { path: dir.path('two/d') }, { paths: null })).toEqual(['two/d/f:1:x']);
  });

  test.each([
    ['an invalid regex', '(', {}, expect.stringContaining('regex'), 'F210'],
    ['an invalid glob', 'x', { include: '[a' }, expect.stringContaining('[a'), 'F210'],
    ['nothing to look for', '', {}, '`pattern` must be at least 1 (got a string)', 'F210'],
    ['a path outside', 'x', { path: '..' }, "Path '$' is outside allowed paths", 'F215'],
    ['a link to the outside', 'x', { path: 'out' }, "Path '$/other' is outside allowed paths", 'F215'],
    ['what is missing', 'x', { path: 'no' }, '$/ws/no does not exist', 'F211'],
    ['a FIFO', 'x', { path: 'pipe' }, '$/ws/pipe is not a regular file', 'F212'],
  ])('%s is refused', async (_, pattern, more, error: unknown, code) => {
    await using dir = await tempDir({ 'ws/pipe': { fifo: true }, 'ws/out': { symlink: '../other' }, 'other/': '' });
    expect(await call(grep, dir, { pattern, ...more })).toEqual({
      success: false,
      error: typeof error === 'string' ? error.replace('$', dir.root) : error,
      metadata: { code },
    });
  });
});
