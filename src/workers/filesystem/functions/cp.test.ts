import { lstatSync, statSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import { filesystemCases, tempDir, treeOf, type TempDir } from '#testing';
import { openFilesystem } from '../worker.ts';
import { cp } from './cp.ts';

describe.each(['descriptor', 'portable'] as const)('%s jail', (mode) => {
  const call = filesystemCases(openFilesystem, mode);
  const copying = (dir: TempDir, source: string, destination: string, more = {}, config = {}) =>
    call(cp, dir, { source, destination, ...more }, config);

  test('filesystem.D26 a file with its mode; what is there stays, or is replaced when asked for', async () => {
    await using dir = await tempDir({ 'ws/f': { content: 'new', mode: 0o755 }, 'ws/g': 'old' });
    expect(await copying(dir, 'f', 'g')).toEqual({
      success: false,
      error: `${dir.path('ws/g')} already exists`,
      metadata: { code: 'F217' },
    });
    expect(treeOf(dir.path('ws'))).toEqual({ f: '755 new', g: '644 old' });
    expect(await copying(dir, 'f', dir.path('ws/g'), { overwrite: true })).toEqual({
      success: true,
      data: { source: dir.path('ws/f'), destination: dir.path('ws/g') },
    });
    expect(treeOf(dir.path('ws'))).toEqual({ f: '755 new', g: '755 new' });
    expect(statSync(dir.path('ws/f')).ino).not.toBe(statSync(dir.path('ws/g')).ino);
  });

  test('filesystem.D28 a directory with everything in it, links as links', async () => {
    await using dir = await tempDir({
      'ws/d/f': { content: 'x', mode: 0o600 },
      'ws/d/.h': 'h',
      'ws/d/e/g': 'y',
      'ws/d/empty/': '',
      'ws/d/out': { symlink: '../../other' },
      'ws/d/dangling': { symlink: 'nothing' },
      'other/SECRET': 'SECRET',
    });
    expect(await copying(dir, 'd', 'copy')).toMatchObject({ success: true });
    const before = treeOf(dir.path('ws/d'));
    expect(treeOf(dir.path('ws/copy'))).toEqual(before);
    expect(Object.keys(treeOf(dir.path('ws'))).some((name) => name.includes('.workcell-'))).toBe(false);
    expect(lstatSync(dir.path('ws/copy/out')).isSymbolicLink()).toBe(true);
  });

  test('a directory is merged into another only with overwrite; other entries there stay', async () => {
    await using dir = await tempDir({ 'ws/d/f': 'new', 'ws/d/e/g': 'new', 'ws/to/f': 'old', 'ws/to/keep': 'kept' });
    expect(await copying(dir, 'd', 'to')).toMatchObject({ success: false, metadata: { code: 'F217' } });
    expect(await copying(dir, 'd', 'to', { overwrite: true })).toMatchObject({ success: true });
    expect(treeOf(dir.path('ws/to'))).toEqual({ e: '755', 'e/g': '644 new', f: '644 new', keep: '644 kept' });
  });

  test('one file over max_file_size, anywhere in a tree, and nothing is copied', async () => {
    await using dir = await tempDir({ 'ws/d/a': 'x', 'ws/d/e/big': 'x'.repeat(11), 'ws/d/f': 'x' });
    for (const source of ['d', 'd/e/big']) {
      expect(await copying(dir, source, 'copy', {}, { max_file_size: 10 })).toEqual({
        success: false,
        error: `${dir.path('ws/d/e/big')} is 11 bytes; max_file_size is 10, which the operator can raise`,
        metadata: { code: 'F213' },
      });
    }
    expect(Object.keys(treeOf(dir.path('ws')))).toEqual(['d', 'd/a', 'd/e', 'd/e/big', 'd/f']);
  });

  test('a link is followed to its target, inside', async () => {
    await using dir = await tempDir({
      'ws/real': 'x',
      'ws/link': { symlink: 'real' },
      'ws/d/f': 'y',
      'ws/dl': { symlink: 'd' },
    });
    expect(await copying(dir, 'link', 'copy')).toMatchObject({ data: { source: dir.path('ws/real') } });
    expect(await copying(dir, 'dl', 'd2')).toMatchObject({ data: { source: dir.path('ws/d') } });
    expect(treeOf(dir.path('ws'))).toMatchObject({ copy: '644 x', 'd2/f': '644 y' });
  });

  test.each([
    ['from outside', '../other/f', 'x', 'F215'],
    ['to outside', 'f', '../other/x', 'F215'],
    ['to a sibling whose name begins the same', 'f', '../ws2/x', 'F215'],
    ['a directory to outside', 'd', '../other/d', 'F215'],
    ['a link to the outside', 'out', 'x', 'F215'],
    ['to behind a link to the outside', 'f', 'out/x', 'F215'],
    ['over a link to the outside', 'f', 'file-out', 'F215'],
    ['what is missing', 'no', 'x', 'F211'],
    ['into a directory that is missing', 'f', 'no/x', 'F211'],
    ['a tree into a directory that is missing', 'd', 'no/x', 'F211'],
    ['a FIFO', 'pipe', 'x', 'F212'],
    ['a tree with a FIFO', 'd2', 'x', 'F212'],
    ['a file over a directory', 'f', 'd', 'F212'],
    ['a directory over a file', 'd', 'f', 'F212'],
    ['a directory into itself', 'd', 'd/e/x', 'F210'],
    ['a directory over itself', 'd', 'd', 'F210'],
    ['the allowed path into itself', '.', 'x', 'F210'],
  ])('%s: refused, and nothing changes anywhere', async (_, source, destination, code) => {
    await using dir = await tempDir({
      'ws/f': 'x',
      'ws/d/e/g': '',
      'ws/pipe': { fifo: true },
      'ws/d2/a': '',
      'ws/d2/pipe': { fifo: true },
      'ws/out': { symlink: '../other' },
      'ws/file-out': { symlink: '../other/f' },
      'other/f': 'SECRET',
      'ws2/': '',
    });
    const before = treeOf(dir.root);
    const reply = await copying(dir, source, destination, { overwrite: true });
    expect(reply).toMatchObject({ success: false, error: expect.stringContaining(dir.root), metadata: { code } });
    expect(treeOf(dir.root)).toEqual(before);
  });
});
