import { chmodSync, utimesSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import { filesystemCases, tempDir, type TempDir } from '#testing';
import { openFilesystem } from '../worker.ts';
import { fileStat } from './file-stat.ts';

describe.each(['descriptor', 'portable'] as const)('%s jail', (mode) => {
  const call = filesystemCases(openFilesystem, mode);
  const looking = (dir: TempDir, path: string) => call(fileStat, dir, { path });

  test('filesystem.D32 a file with every field', async () => {
    await using dir = await tempDir({ 'ws/main.py': { content: 'x'.repeat(12), mode: 0o644 } });
    utimesSync(dir.path('ws/main.py'), 1709942400.25, 1709942400.25);
    expect(await looking(dir, 'main.py')).toEqual({
      success: true,
      data: {
        path: dir.path('ws/main.py'),
        name: 'main.py',
        type: 'file',
        size_bytes: 12,
        modified: 1709942400.25,
        created: expect.any(Number),
        permissions: '0o644',
        is_symlink: false,
      },
    });
  });

  test('directories, links themselves, pipes, and modes of every kind', async () => {
    await using dir = await tempDir({
      'ws/d/': '',
      'ws/link': { symlink: '../outside' },
      'ws/pipe': { fifo: true },
      'ws/f': '',
    });
    chmodSync(dir.path('ws/d'), 0o1777);
    chmodSync(dir.path('ws/f'), 0o7);
    expect(await looking(dir, 'd')).toMatchObject({ data: { type: 'directory', permissions: '0o1777' } });
    expect(await looking(dir, 'link')).toMatchObject({ data: { name: 'link', type: 'symlink', is_symlink: true } });
    expect(await looking(dir, 'pipe')).toMatchObject({ data: { type: 'other' } });
    expect(await looking(dir, 'f')).toMatchObject({ data: { permissions: '0o007' } });
    expect(await looking(dir, '.')).toMatchObject({ data: { path: dir.path('ws'), name: 'ws', type: 'directory' } });
  });

  test.each([
    ['no', '$/ws/no does not exist', 'F211'],
    ['link/x', "Path '$/other/x' is outside allowed paths", 'F215'],
    ['../other', "Path '$/other' is outside allowed paths", 'F215'],
  ])('%s is refused', async (path, error, code) => {
    await using dir = await tempDir({ 'ws/link': { symlink: '../other' }, 'other/x': '' });
    expect(await looking(dir, path)).toEqual({
      success: false,
      error: error.replace('$', dir.root),
      metadata: { code },
    });
  });
});
