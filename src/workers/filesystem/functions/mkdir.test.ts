import { describe, expect, test } from 'vitest';

import { filesystemCases, tempDir, treeOf, type TempDir } from '#testing';
import { openFilesystem } from '../worker.ts';
import { mkdir } from './mkdir.ts';

describe.each(['descriptor', 'portable'] as const)('%s jail', (mode) => {
  const call = filesystemCases(openFilesystem, mode);
  const making = (dir: TempDir, path: string) => call(mkdir, dir, { path });

  test('filesystem.D31 parents are made, and twice is fine', async () => {
    await using dir = await tempDir({ 'ws/': '' });
    const data = { path: dir.path('ws/a/b/c'), created: true };
    expect(await making(dir, 'a/b/c')).toEqual({ success: true, data });
    expect(await making(dir, dir.path('ws/a/b/c'))).toEqual({ success: true, data: { ...data, created: false } });
    expect(treeOf(dir.path('ws'))).toEqual({ a: '755', 'a/b': '755', 'a/b/c': '755' });
  });

  test('the allowed path itself and a link to a directory inside are there already', async () => {
    await using dir = await tempDir({ 'ws/d/': '', 'ws/link': { symlink: 'd' } });
    expect(await making(dir, '.')).toMatchObject({ data: { path: dir.path('ws'), created: false } });
    expect(await making(dir, 'link')).toMatchObject({ data: { path: dir.path('ws/d'), created: false } });
  });

  test.each([
    ['a file', 'f', 'F217'],
    ['below a file', 'f/d', 'F217'],
    ['outside', '../other/d', 'F215'],
    ['outside, behind a link', 'out/a/b', 'F215'],
    ['a dangling link', 'dangling', 'F211'],
  ])('%s: refused, and nothing is made anywhere', async (_, path, code) => {
    await using dir = await tempDir({
      'ws/f': '',
      'ws/out': { symlink: '../other' },
      'ws/dangling': { symlink: '../other/nothing' },
      'other/': '',
    });
    const before = treeOf(dir.root);
    const reply = await making(dir, path);
    expect(reply).toMatchObject({ success: false, error: expect.stringContaining(dir.root), metadata: { code } });
    expect(treeOf(dir.root)).toEqual(before);
  });
});
