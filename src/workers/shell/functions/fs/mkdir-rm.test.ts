import { existsSync, lstatSync, readdirSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import { run, tempDir, type TempDir } from '#testing';
import { mkdir } from './mkdir.ts';
import { rm } from './rm.ts';

const config = (dir: TempDir) => ({ fs: { host_root: dir.path('j'), denylist_paths: [dir.path('j/keep/secret')] } });
const modeOf = (path: string) => (lstatSync(path).mode & 0o7777).toString(8);
const namesIn = (dir: TempDir) => readdirSync(dir.root, { recursive: true }).map(String).sort();

describe('mkdir', () => {
  const make = (dir: TempDir, path: string, more: object = {}) =>
    run(mkdir, { path: dir.path(path), ...more }, config(dir));

  test('shell.F12 makes a directory with exactly its mode, whatever the umask', async () => {
    await using dir = await tempDir({ 'j/': '' });
    const umask = process.umask(0o077);
    try {
      expect(await make(dir, 'j/n')).toEqual({ created: true });
      expect(await make(dir, 'j/open', { mode: '777' })).toEqual({ created: true });
    } finally {
      process.umask(umask);
    }
    expect([modeOf(dir.path('j/n')), modeOf(dir.path('j/open'))]).toEqual(['755', '777']);
  });

  test('shell.F14 makes missing directories on the way only when asked', async () => {
    await using dir = await tempDir({ 'j/': '' });
    await expect(make(dir, 'j/a/b/c')).rejects.toMatchObject({ code: 'S211' });
    expect(namesIn(dir)).toEqual(['j']);
    expect(await make(dir, 'j/a/b/c', { parents: true })).toEqual({ created: true });
    expect(namesIn(dir)).toEqual(['j', 'j/a', 'j/a/b', 'j/a/b/c']);
  });

  test('shell.F15 what is there is an error, except a directory when parents are made', async () => {
    await using dir = await tempDir({ 'j/f': '', 'j/d/': '', 'j/link': { symlink: 'd' }, 'j/to-f': { symlink: 'f' } });
    for (const path of ['j/f', 'j/to-f']) {
      await expect(make(dir, path, { parents: true })).rejects.toMatchObject({ code: 'S213' });
    }
    for (const path of ['j/f', 'j/d', 'j/link', 'j']) {
      await expect(make(dir, path)).rejects.toMatchObject({ code: 'S213' });
    }
    for (const path of ['j/d', 'j/link', 'j']) {
      expect(await make(dir, path, { parents: true })).toEqual({ created: false });
    }
  });

  test('a file on the way is an error', async () => {
    await using dir = await tempDir({ 'j/f': '' });
    await expect(make(dir, 'j/f/n')).rejects.toMatchObject({ code: 'S216' });
    await expect(make(dir, 'j/f/n', { parents: true })).rejects.toMatchObject({ code: 'S213' });
  });

  test.each(['', '0o755', 'rwx', '8', '-1', '07777', '1755'])('mode %j is refused', async (mode) => {
    await using dir = await tempDir({ 'j/': '' });
    await expect(make(dir, 'j/n', { mode })).rejects.toMatchObject({ code: 'S210' });
    expect(namesIn(dir)).toEqual(['j']);
  });
});

describe('rm', () => {
  const remove = (dir: TempDir, path: string, more: object = {}) =>
    run(rm, { path: dir.path(path), ...more }, config(dir));

  test('shell.F17 a file goes, and then is missing', async () => {
    await using dir = await tempDir({ 'j/f': '' });
    expect(await remove(dir, 'j/f')).toEqual({ removed: true });
    await expect(remove(dir, 'j/f')).rejects.toMatchObject({ code: 'S211' });
    await expect(remove(dir, 'j/f', { recursive: true })).rejects.toMatchObject({ code: 'S211' });
  });

  test('shell.F18 a directory with entries goes only when recursive, an empty one always', async () => {
    await using dir = await tempDir({ 'j/d/x/y': '', 'j/d/pipe': { fifo: true }, 'j/empty/': '' });
    await expect(remove(dir, 'j/d')).rejects.toMatchObject({ code: 'S214' });
    expect(await remove(dir, 'j/d', { recursive: true })).toEqual({ removed: true });
    expect(await remove(dir, 'j/empty')).toEqual({ removed: true });
    expect(namesIn(dir)).toEqual(['j']);
  });

  test.each(['j', 'j/', 'j/d/..', 'self'])('shell.F20 the root itself stays, as %s', async (path) => {
    await using dir = await tempDir({ 'j/d/x': '', self: { symlink: 'j' } });
    await expect(remove(dir, path, { recursive: true })).rejects.toMatchObject({ code: 'S210' });
    expect(existsSync(dir.path('j/d/x'))).toBe(true);
  });

  test('shell.F21 a link goes itself, wherever it leads', async () => {
    await using dir = await tempDir({
      'o/x': '',
      'j/d/x': '',
      'j/out': { symlink: '../o' },
      'j/dangling': { symlink: 'nothing' },
      'j/in': { symlink: 'd' },
      'j/d/up': { symlink: '../../o/x' },
    });
    for (const path of ['j/out', 'j/dangling', 'j/in']) {
      expect(await remove(dir, path, { recursive: true })).toEqual({ removed: true });
    }
    expect(namesIn(dir)).toEqual(['j', 'j/d', 'j/d/up', 'j/d/x', 'o', 'o/x']);
    await remove(dir, 'j/d', { recursive: true });
    expect(namesIn(dir)).toEqual(['j', 'o', 'o/x']);
  });

  test('a denylisted path below keeps the whole directory, and is named', async () => {
    await using dir = await tempDir({ 'j/keep/a': '', 'j/keep/secret/x': '', 'j/keep/z': '' });
    const before = namesIn(dir);
    await expect(remove(dir, 'j/keep', { recursive: true })).rejects.toMatchObject({
      code: 'S215',
      message: `${dir.path('j/keep/secret')} is protected`,
    });
    expect(namesIn(dir)).toEqual(before);
  });
});
