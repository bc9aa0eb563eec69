import { describe, expect, test } from 'vitest';

import { filesystemCases, tempDir, treeOf, type TempDir } from '#testing';
import { openFilesystem } from '../worker.ts';
import { mv } from './mv.ts';

describe.each(['descriptor', 'portable'] as const)('%s jail', (mode) => {
  const call = filesystemCases(openFilesystem, mode);
  const moving = (dir: TempDir, source: string, destination: string, more = {}) =>
    call(mv, dir, { source, destination, ...more });

  test('files, directories and links move, and the answer names both ends', async () => {
    await using dir = await tempDir({ 'ws/f': 'x', 'ws/d/e/g': 'y', 'ws/link': { symlink: '../outside' } });
    expect(await moving(dir, 'f', dir.path('ws/d/f2'))).toEqual({
      success: true,
      data: { source: dir.path('ws/f'), destination: dir.path('ws/d/f2') },
    });
    expect(await moving(dir, 'd', 'moved')).toMatchObject({ success: true });
    expect(await moving(dir, 'link', 'moved/link')).toMatchObject({ success: true });
    expect(treeOf(dir.path('ws'))).toEqual({
      moved: '755',
      'moved/e': '755',
      'moved/e/g': '644 y',
      'moved/f2': '644 x',
      'moved/link': '-> ../outside',
    });
  });

  test('filesystem.D26 what is there stays, or is replaced when asked for', async () => {
    await using dir = await tempDir({ 'ws/f': 'new', 'ws/g': 'old' });
    expect(await moving(dir, 'f', 'g')).toEqual({
      success: false,
      error: `${dir.path('ws/g')} already exists`,
      metadata: { code: 'F217' },
    });
    expect(treeOf(dir.path('ws'))).toEqual({ f: '644 new', g: '644 old' });
    expect(await moving(dir, 'f', 'g', { overwrite: true })).toMatchObject({ success: true });
    expect(treeOf(dir.path('ws'))).toEqual({ g: '644 new' });
  });

  test.each([
    ['from outside', '../other/f', 'x', 'F215'],
    ['to outside', 'f', '../other/x', 'F215'],
    ['to a sibling whose name begins the same', 'f', '../ws2/x', 'F215'],
    ['from behind a link to the outside', 'out/f', 'x', 'F215'],
    ['to behind a link to the outside', 'f', 'out/x', 'F215'],
    ['what is missing', 'no', 'x', 'F211'],
    ['into a directory that is missing', 'f', 'no/x', 'F211'],
    ['the allowed path itself', '.', 'x', 'F210'],
    ['over the allowed path itself', 'f', '.', 'F210'],
    ['over a directory with entries', 'd', 'full', 'F216'],
    ['a directory into itself', 'd', 'd/e', 'F216'],
  ])('%s: refused, and nothing changes anywhere', async (_, source, destination, code) => {
    await using dir = await tempDir({
      'ws/f': 'x',
      'ws/d/': '',
      'ws/full/x': '',
      'ws/out': { symlink: '../other' },
      'other/f': 'SECRET',
      'ws2/': '',
    });
    const before = treeOf(dir.root);
    const reply = await moving(dir, source, destination, { overwrite: true });
    expect(reply).toMatchObject({ success: false, error: expect.stringContaining(dir.root), metadata: { code } });
    expect(treeOf(dir.root)).toEqual(before);
  });
});
