import { lstatSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { run, tempDir, type TempDir } from '#testing';
import { chmod } from './chmod.ts';
import { mv } from './mv.ts';

const config = (dir: TempDir) => ({ fs: { host_root: dir.path('j'), denylist_paths: [dir.path('j/keep/secret')] } });
const modeOf = (dir: TempDir, name: string) => (lstatSync(dir.path(name)).mode & 0o7777).toString(8);
const namesIn = (dir: TempDir) => readdirSync(dir.root, { recursive: true }).map(String).sort();

describe('chmod', () => {
  const change = (dir: TempDir, path: string, more: object) =>
    run(chmod, { path: dir.path(path), ...more }, config(dir));

  test('shell.F23 sets the bits, and refuses special ones', async () => {
    await using dir = await tempDir({ 'j/f': '', 'j/link': { symlink: 'f' } });
    expect(await change(dir, 'j/f', { mode: '0600' })).toEqual({ updated: 1 });
    expect(modeOf(dir, 'j/f')).toBe('600');
    for (const mode of ['4755', '2755', '1777', '7777', '10644']) {
      await expect(change(dir, 'j/f', { mode })).rejects.toMatchObject({ code: 'S210' });
    }
    expect(modeOf(dir, 'j/f')).toBe('600');
    expect(await change(dir, 'j/link', { mode: '0' })).toEqual({ updated: 1 });
    expect(modeOf(dir, 'j/f')).toBe('0');
  });

  test.each(['0700', '0000', '0444'])('shell.F24 %s for everything below, links left alone', async (mode) => {
    await using dir = await tempDir({
      'o/f': { content: '', mode: 0o644 },
      'j/tree/sub/leaf': '',
      'j/tree/up': { symlink: '../../o/f' },
    });
    expect(await change(dir, 'j/tree', { mode, recursive: true })).toEqual({ updated: 3 });
    const set = Number.parseInt(mode, 8).toString(8);
    expect(['j/tree', 'j/tree/sub', 'j/tree/sub/leaf'].map((name) => modeOf(dir, name))).toEqual([set, set, set]);
    expect(modeOf(dir, 'o/f')).toBe('644');
    await change(dir, 'j/tree', { mode: '0755', recursive: true });
  });

  test('shell.F26 recursive does not follow symlinks', async () => {
    await using dir = await tempDir({ 'j/tree/leaf': { content: '', mode: 0o640 }, 'j/link': { symlink: 'tree' } });
    await expect(change(dir, 'j/link', { mode: '0777', recursive: true })).rejects.toMatchObject({ code: 'S212' });
    expect(modeOf(dir, 'j/tree/leaf')).toBe('640');
  });

  test('shell.F27 a missing path and a missing mode are refused', async () => {
    await using dir = await tempDir({ 'j/f': '' });
    await expect(change(dir, 'j/gone', { mode: '0644' })).rejects.toMatchObject({ code: 'S211' });
    await expect(change(dir, 'j/f', {})).rejects.toMatchObject({
      code: 'S210',
      message: 'bad chmod payload: missing field `mode`',
    });
  });

  test('a denylisted path below, and the root, keep everything as it is', async () => {
    await using dir = await tempDir({ 'j/keep/a': { content: '', mode: 0o640 }, 'j/keep/secret': '' });
    const bits = { mode: '0777', recursive: true };
    await expect(change(dir, 'j/keep', bits)).rejects.toMatchObject({ code: 'S215' });
    await expect(change(dir, 'j', bits)).rejects.toMatchObject({ code: 'S210' });
    expect(modeOf(dir, 'j/keep/a')).toBe('640');
  });

  test.skipIf(process.getuid?.() !== 0)('sets the owner of everything below', async () => {
    await using dir = await tempDir({ 'j/tree/leaf': '' });
    await change(dir, 'j/tree', { mode: '0750', uid: 12345, gid: null, recursive: true });
    await change(dir, 'j/tree/leaf', { mode: '0640', gid: 23456 });
    const owners = ['j/tree', 'j/tree/leaf'].map((name) => [
      statSync(dir.path(name)).uid,
      statSync(dir.path(name)).gid,
    ]);
    expect(owners).toEqual([
      [12345, process.getgid!()],
      [12345, 23456],
    ]);
  });

  test.each([-1, 1.5, '0'])('uid %j is refused', async (uid) => {
    await using dir = await tempDir({ 'j/f': '' });
    await expect(change(dir, 'j/f', { mode: '0644', uid })).rejects.toMatchObject({ code: 'S210' });
  });
});

describe('mv', () => {
  const move = (dir: TempDir, src: string, dst: string, more: object = {}) =>
    run(mv, { src: dir.path(src), dst: dir.path(dst), ...more }, config(dir));

  test('shell.F29 what is there is replaced only when asked', async () => {
    await using dir = await tempDir({ 'j/a': 'a', 'j/b': 'b' });
    await expect(move(dir, 'j/a', 'j/b')).rejects.toMatchObject({
      code: 'S213',
      message: `dst already exists: ${dir.path('j/b')}`,
    });
    expect(readFileSync(dir.path('j/b'), 'utf8')).toBe('b');
    expect(await move(dir, 'j/a', 'j/b', { overwrite: true })).toEqual({ moved: true });
    expect(readFileSync(dir.path('j/b'), 'utf8')).toBe('a');
    expect(namesIn(dir)).toEqual(['j', 'j/b']);
  });

  test('shell.F30 reports which end is missing', async () => {
    await using dir = await tempDir({ 'j/a': '' });
    await expect(move(dir, 'j/gone', 'j/b')).rejects.toMatchObject({
      code: 'S211',
      message: `src not found: ${dir.path('j/gone')}`,
    });
    const failure = { code: 'S211', message: `${dir.path('j/no/b')} does not exist (ENOENT)` };
    await expect(move(dir, 'j/a', 'j/no/b')).rejects.toMatchObject(failure);
  });

  test('directories and links move themselves', async () => {
    await using dir = await tempDir({ 'j/d/x': '', 'j/link': { symlink: 'd' }, 'j/empty/': '' });
    await move(dir, 'j/link', 'j/renamed');
    await move(dir, 'j/d', 'j/empty', { overwrite: true });
    expect(namesIn(dir)).toEqual(['j', 'j/empty', 'j/empty/x', 'j/renamed']);
    expect(lstatSync(dir.path('j/renamed')).isSymbolicLink()).toBe(true);
  });

  test.each([
    ['a file onto a directory', 'j/f', 'j/d', 'S216'],
    ['a directory onto a file', 'j/d', 'j/f', 'S216'],
    ['a directory onto one with entries', 'j/d', 'j/full', 'S214'],
    ['a directory into itself', 'j/d', 'j/d/x', 'S216'],
    ['the root', 'j', 'j/x', 'S210'],
    ['onto the root', 'j/d', 'j', 'S210'],
    ['out', 'j/f', 'o/f', 'S215'],
    ['in', 'o/x', 'j/x', 'S215'],
    ['a directory with a denylisted path', 'j/keep', 'j/kept', 'S215'],
    ['onto a denylisted path', 'j/f', 'j/keep/secret', 'S215'],
  ])('%s is refused and changes nothing', async (_, src, dst, code) => {
    await using dir = await tempDir({ 'o/x': '', 'j/f': '', 'j/d/': '', 'j/full/x': '', 'j/keep/secret': '' });
    const before = namesIn(dir);
    await expect(move(dir, src, dst, { overwrite: true })).rejects.toMatchObject({ code });
    expect(namesIn(dir)).toEqual(before);
  });

  test('shell.F32 a file moves to another device with its content, mode and time', async ({ skip }) => {
    await using dir = await tempDir({ 'j/old': 'old' });
    const other = otherDevice(dir) ?? skip('one device only');
    try {
      dir.add({ 'j/f': { content: 'x'.repeat(600_000), mode: 0o751 } });
      utimesSync(dir.path('j/f'), 1000, 1_000_000);
      const fs = { host_root: null, allow_unjailed: true };
      const call = (src: string, dst: string, overwrite = false) => run(mv, { src, dst, overwrite }, { fs });

      expect(await call(dir.path('j/f'), join(other, 'g'))).toEqual({ moved: true });
      const { mode, mtimeMs, size } = statSync(join(other, 'g'));
      expect([mode & 0o7777, mtimeMs, size]).toEqual([0o751, 1_000_000_000, 600_000]);
      expect(namesIn(dir)).toEqual(['j', 'j/old']);

      await expect(call(join(other, 'g'), dir.path('j/old'))).rejects.toMatchObject({ code: 'S213' });
      await call(join(other, 'g'), dir.path('j/old'), true);
      expect([readdirSync(other), statSync(dir.path('j/old')).size]).toEqual([[], 600_000]);

      dir.add({ 'j/d/x': '' });
      await expect(call(dir.path('j/d'), join(other, 'd'))).rejects.toMatchObject({ code: 'S216' });
      expect([readdirSync(other), namesIn(dir)]).toEqual([[], ['j', 'j/d', 'j/d/x', 'j/old']]);
    } finally {
      rmSync(other, { recursive: true });
    }
  });
});

function otherDevice(dir: TempDir): string | undefined {
  const here = statSync(dir.root).dev;
  const place = ['/dev/shm', tmpdir(), '/var/tmp'].find(
    (path) => (statSync(path, { throwIfNoEntry: false })?.dev ?? here) !== here,
  );
  return place && realpathSync(mkdtempSync(join(place, 'workcell-')));
}
