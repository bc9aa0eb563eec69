import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import { tempDir, treeOf, type TempDir } from '#testing';
import { tempName } from './atomic-write-temp.ts';
import { JailChanges } from './jail-changes.ts';
import { openAbsoluteJail } from '../jail/jail.ts';

describe.each(['descriptor', 'portable'] as const)('copies in a %s jail', (mode) => {
  const copy = (dir: TempDir, from: string, to: string, options: Partial<Parameters<JailChanges['copy']>[2]> = {}) => {
    const jail = openAbsoluteJail([dir.root], { mode, isProtected: (path) => path.endsWith('.key') });
    const { signal } = new AbortController();
    const asked = { overwrite: false, signal, refuse() {}, ...options };
    return new JailChanges(jail, { isSynced: true }).copy(dir.path(from), dir.path(to), asked);
  };

  test('names that are not UTF-8 are copied byte by byte', async () => {
    await using dir = await tempDir({ 'a/': '' });
    const name = Buffer.from(`${dir.root}/a/\xff\xfe`, 'latin1');
    writeFileSync(name, 'x');
    await copy(dir, 'a', 'b');
    expect(readdirSync(dir.path('b'), 'latin1')).toEqual(['\xff\xfe']);
  });

  test('a read-only directory is copied with its files, without special bits', async () => {
    await using dir = await tempDir({ 'a/b/f': { content: 'x', mode: 0o444 } });
    chmodSync(dir.path('a/b/f'), 0o4755);
    chmodSync(dir.path('a/b'), 0o555);
    await copy(dir, 'a', 'c');
    expect([statSync(dir.path('c/b')).mode & 0o7777, statSync(dir.path('c/b/f')).mode & 0o7777]).toEqual([
      0o555, 0o755,
    ]);
  });

  test('a file of many pieces is copied completely', async () => {
    const content = Buffer.alloc(3 * 2 ** 20 + 7, 'abcdefg');
    await using dir = await tempDir({ big: content });
    await copy(dir, 'big', 'copy');
    expect(statSync(dir.path('copy')).size).toBe(content.length);
    expect(treeOf(dir.root).copy).toBe(treeOf(dir.root).big);
  });

  // The portable jail detects a race and does not prevent it.
  const swapped = ['done', 'cancelled'].filter(() => mode === 'descriptor');
  test.each(swapped)('a directory swapped in for an unfinished copy is not changed (%s)', async (end) => {
    await using dir = await tempDir({ 'a/1': 'x', 'private/kept': 'x' });
    chmodSync(dir.path('a'), 0o755);
    chmodSync(dir.path('private'), 0o700);
    const swap = () => {
      const growing = readdirSync(dir.root).find((name) => name.startsWith('.workcell-'));
      if (growing === undefined) return;
      renameSync(dir.path(growing), dir.path('away'));
      renameSync(dir.path('private'), dir.path(growing));
      if (end === 'cancelled') throw new Error(end);
    };
    await copy(dir, 'a', 'b', { refuse: swap }).catch(() => {});
    const [name] = readdirSync(dir.root).filter((each) => !['a', 'away'].includes(each));
    expect([statSync(dir.path(name!)).mode & 0o777, readdirSync(dir.path(name!))]).toEqual([0o700, ['kept']]);
  });

  test('filesystem.P6 a copy that is aborted or refused halfway leaves nothing', async () => {
    await using dir = await tempDir({ 'a/1': 'x', 'a/2': 'x', 'a/3': 'x' });
    const before = treeOf(dir.root);
    const caller = new AbortController();
    let looks = 0;
    // The first three checks come before anything is written.
    const refuse = () => {
      if (++looks === 5) caller.abort(new Error('cancelled'));
    };
    await expect(copy(dir, 'a', 'b', { signal: caller.signal, refuse })).rejects.toThrow('cancelled');
    expect(looks).toBeGreaterThan(3);
    expect(treeOf(dir.root)).toEqual(before);
  });

  test.skipIf(process.getuid?.() !== 0)('an aborted copy of a read-only directory leaves nothing', async () => {
    await using dir = await tempDir({ 'a/1/f': 'x', 'a/2': 'x' });
    chmodSync(dir.path('a/1'), 0o555);
    chmodSync(dir.root, 0o777);
    const before = treeOf(dir.root);
    const caller = new AbortController();
    let looks = 0;
    const refuse = () => {
      if (++looks === 4) caller.abort(new Error('cancelled'));
    };
    process.seteuid!(1234);
    try {
      await expect(copy(dir, 'a', 'b', { signal: caller.signal, refuse })).rejects.toThrow('cancelled');
    } finally {
      process.seteuid!(0);
    }
    expect(treeOf(dir.root)).toEqual(before);
  });

  test('filesystem.P6 the next copy removes what a killed process left', async () => {
    const nameOf = (pid: number | undefined) => tempName().replace(/-\d+-/, `-${pid}-`);
    const [left, living] = [nameOf(spawnSync('true').pid), nameOf(process.ppid)];
    await using dir = await tempDir({ 'a/f': 'x', outside: '', [`${left}/b/f`]: 'x', [`${living}/f`]: 'x' });
    dir.add({ [`${left}/b/l`]: { symlink: '../../outside' } });
    chmodSync(dir.path(`${left}/b`), 0o555);
    await copy(dir, 'a', 'c');
    expect(readdirSync(dir.root)).toEqual([living, 'a', 'c', 'outside']);
  });

  test('a directory with a protected file is not copied, and nothing is created', async () => {
    await using dir = await tempDir({ 'a/x': '', 'a/b/id.key': 'SECRET' });
    await expect(copy(dir, 'a', 'c')).rejects.toMatchObject({ reason: 'protected' });
    await expect(copy(dir, 'a/b/id.key', 'c')).rejects.toMatchObject({ reason: 'protected' });
    expect(readdirSync(dir.root)).toEqual(['a']);
  });

  test('a copy over a directory replaces files and symlinks, and fails where types differ', async () => {
    await using dir = await tempDir({
      'a/f': 'new',
      'a/l': { symlink: 'f' },
      'b/f': 'old',
      'b/l': 'old',
      'b/keep': '',
    });
    await copy(dir, 'a', 'b', { overwrite: true });
    expect(treeOf(dir.path('b'))).toEqual({ f: '644 new', keep: '644 ', l: '-> f' });

    mkdirSync(dir.path('c/f'), { recursive: true });
    await expect(copy(dir, 'a', 'c', { overwrite: true })).rejects.toMatchObject({ reason: 'not-a-file' });
    expect(treeOf(dir.path('c'))).toEqual({ f: '755' });
  });
});
