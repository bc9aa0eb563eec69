import { describe, expect, test } from 'vitest';

import { filesystemCases, tempDir, treeOf, type TempDir } from '#testing';
import { openFilesystem } from '../worker.ts';
import { rm } from './rm.ts';

describe.each(['descriptor', 'portable'] as const)('%s jail', (mode) => {
  const call = filesystemCases(openFilesystem, mode);
  const removing = (dir: TempDir, path: string, more = {}) => call(rm, dir, { path, ...more });

  test('filesystem.D29 a directory goes only with recursive, also an empty one', async () => {
    await using dir = await tempDir({ 'ws/d/e/f': '', 'ws/empty/': '', 'ws/f': '' });
    for (const path of ['d', 'empty']) {
      expect(await removing(dir, path)).toEqual({
        success: false,
        error: `${dir.path(`ws/${path}`)} is a directory; recursive deletes it with everything in it`,
        metadata: { code: 'F212', fix: { path, recursive: true } },
      });
    }
    expect(Object.keys(treeOf(dir.path('ws')))).toHaveLength(5);

    expect(await removing(dir, 'd', { recursive: true })).toEqual({
      success: true,
      data: { path: dir.path('ws/d'), type: 'directory', deleted: true },
    });
    expect(await removing(dir, 'empty', { recursive: true })).toMatchObject({ success: true });
    expect(await removing(dir, dir.path('ws/f'))).toMatchObject({ data: { type: 'file', deleted: true } });
    expect(treeOf(dir.path('ws'))).toEqual({});
  });

  test('a link itself is removed, and a tree with links leaves their targets', async () => {
    await using dir = await tempDir({
      'ws/out': { symlink: '../other' },
      'ws/d/out': { symlink: '../../other' },
      'other/f': 'kept',
    });
    expect(await removing(dir, 'out')).toMatchObject({ data: { type: 'symlink', deleted: true } });
    expect(await removing(dir, 'd', { recursive: true })).toMatchObject({ success: true });
    expect(treeOf(dir.root)).toEqual({ other: '755', 'other/f': '644 kept', ws: '755' });
  });

  test.each([
    ['outside', '../other/f', 'F215'],
    ['outside, behind a link', 'out/f', 'F215'],
    ['a sibling whose name begins the same', '../ws2', 'F215'],
    ['what is missing', 'no', 'F211'],
    ['the allowed path itself', '.', 'F210'],
    ['the allowed path itself, by its way', '$ws', 'F210'],
    ['the folder above', '..', 'F215'],
  ])('%s: refused, and nothing is gone anywhere', async (_, path, code) => {
    await using dir = await tempDir({ 'ws/f': '', 'ws/out': { symlink: '../other' }, 'other/f': '', 'ws2/': '' });
    const before = treeOf(dir.root);
    const reply = await removing(dir, path.replace('$ws', dir.path('ws')), { recursive: true });
    expect(reply).toMatchObject({ success: false, error: expect.stringContaining(dir.root), metadata: { code } });
    expect(treeOf(dir.root)).toEqual(before);
  });
});
