import { lstatSync, readdirSync, readFileSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import { versionOf } from '#host';
import { filesystemCases, tempDir, treeOf, type TempDir } from '#testing';
import { openFilesystem } from '../worker.ts';
import { write } from './write.ts';

describe.each(['descriptor', 'portable'] as const)('%s jail', (mode) => {
  const call = filesystemCases(openFilesystem, mode);
  const writing = (dir: TempDir, payload: object, config = {}) =>
    call(write, dir, { content: 'new', ...payload }, config);

  test('filesystem.D10 missing directories are made only when asked for, and the failure says how', async () => {
    await using dir = await tempDir({ 'ws/': '' });
    expect(await writing(dir, { path: 'a/b/f' })).toEqual({
      success: false,
      error: `the directory of ${dir.path('ws/a/b/f')} does not exist; create_dirs makes it`,
      metadata: { code: 'F211', fix: { path: 'a/b/f', content: 'new', create_dirs: true } },
    });
    expect(treeOf(dir.path('ws'))).toEqual({});

    expect(await writing(dir, { path: dir.path('ws/a/b/f'), content: 'hé', create_dirs: true })).toEqual({
      success: true,
      data: {
        path: dir.path('ws/a/b/f'),
        bytes_written: 3,
        created: true,
        version: versionOf(Buffer.from('hé')),
      },
    });
    expect(treeOf(dir.path('ws'))).toEqual({ a: '755', 'a/b': '755', 'a/b/f': '644 hé' });
  });

  test('filesystem.D11 content over max_file_size is refused, counted in bytes, and nothing is written', async () => {
    await using dir = await tempDir({ 'ws/f': 'old' });
    for (const path of ['f', 'new/f']) {
      expect(
        await writing(dir, { path, content: 'x'.repeat(9) + 'é', create_dirs: true }, { max_file_size: '10B' }),
      ).toEqual({
        success: false,
        error: `${dir.path(`ws/${path}`)} is 11 bytes; max_file_size is 10, which the operator can raise`,
        metadata: { code: 'F213' },
      });
    }
    expect(treeOf(dir.path('ws'))).toEqual({ f: '644 old' });
  });

  test('a file is replaced whole and keeps its mode; a link inside stays a link', async () => {
    await using dir = await tempDir({ 'ws/real': { content: 'old', mode: 0o755 }, 'ws/link': { symlink: 'real' } });
    expect(await writing(dir, { path: 'link' })).toMatchObject({ data: { path: dir.path('ws/real'), created: false } });
    expect(treeOf(dir.path('ws'))).toEqual({ link: '-> real', real: '755 new' });
    expect(lstatSync(dir.path('ws/link')).isSymbolicLink()).toBe(true);
  });

  test.each([
    ['outside', '../other/f', 'F215'],
    ['outside, behind a link', 'out/f', 'F215'],
    ['outside, by a link to a file', 'file-out', 'F215'],
    ['outside, by a link to what is not there', 'dangling-out', 'F211'],
    ['outside, into directories to be made', 'out/a/b/c', 'F215'],
    ['a directory', 'folder', 'F212'],
    ['the allowed path itself', '.', 'F212'],
    ['below a file', 'plain/x', 'F217'],
    ['a name that is too long', 'n'.repeat(300), 'F210'],
  ])('%s: refused, and nothing is made or changed anywhere', async (_, path, code) => {
    await using dir = await tempDir({
      'ws/folder/x': '',
      'ws/plain': '',
      'ws/out': { symlink: '../other' },
      'ws/file-out': { symlink: '../other/f' },
      'ws/dangling-out': { symlink: '../other/nothing' },
      'other/f': 'SECRET',
    });
    const before = treeOf(dir.root);
    expect(await writing(dir, { path, create_dirs: true })).toMatchObject({ success: false, metadata: { code } });
    expect(treeOf(dir.root)).toEqual(before);
  });

  test('expected_version: written at that version, refused at another with the one to expect', async () => {
    await using dir = await tempDir({ 'ws/f': 'old' });
    const version = versionOf(Buffer.from('old'));
    expect(await writing(dir, { path: 'f', expected_version: 'sha256:0' })).toEqual({
      success: false,
      error: `${dir.path('ws/f')} is at version ${version}; the request expects sha256:0: read the file again`,
      metadata: { code: 'F221', version, fix: { path: 'f', content: 'new', expected_version: version } },
    });
    expect(await writing(dir, { path: 'f', expected_version: version })).toMatchObject({ success: true });
    expect(await writing(dir, { path: 'none', expected_version: version })).toMatchObject({
      metadata: { code: 'F211' },
    });
    expect(readdirSync(dir.path('ws'))).toEqual(['f']);
  });
});

test.each([
  ['utf-8', 'aé', [0x61, 0xc3, 0xa9]],
  ['latin-1', 'aé', [0x61, 0xe9]],
  ['utf-16le', 'aé', [0x61, 0, 0xe9, 0]],
  ['ascii', 'a', [0x61]],
  ['utf-16', 'a', [0xff, 0xfe, 0x61, 0]],
  ['utf-16-be', 'a', [0, 0x61]],
  ['cp1252', 'a€', [0x61, 0x80]],
  ['utf-8-sig', 'a', [0xef, 0xbb, 0xbf, 0x61]],
  ['gb18030', '日', [0xc8, 0xd5]],
])('writes %s', async (encoding, content, bytes) => {
  await using dir = await tempDir({ 'ws/': '' });
  const reply = await filesystemCases(openFilesystem, 'descriptor')(write, dir, { path: 'f', content, encoding });
  expect(reply).toMatchObject({ data: { bytes_written: bytes.length } });
  expect([...readFileSync(dir.path('ws/f'))]).toEqual(bytes);
});

test.each([
  ['ascii', 'é'],
  ['latin-1', '€'],
  ['cp1252', '日'],
])('refuses what %s cannot say', async (encoding, content) => {
  await using dir = await tempDir({ 'ws/': '' });
  expect(await filesystemCases(openFilesystem, 'descriptor')(write, dir, { path: 'f', content, encoding })).toEqual({
    success: false,
    error: `\`content\` has characters that ${encoding} lacks`,
    metadata: { code: 'F210' },
  });
  expect(readdirSync(dir.path('ws'))).toEqual([]);
});
