import { mkdirSync, readFileSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import { jailModes, tempDir } from '#testing';
import { HostError } from '../host-error.ts';
import { JailChanges } from '../changes/jail-changes.ts';
import { openAbsoluteJail, type Jail } from './jail.ts';

type Dir = Awaited<ReturnType<typeof tempDir>>;

/** The canonical path, or the reason of the refusal. */
function outcome(jail: Jail, path: string, open: 'open' | 'openDir' | 'entry' | 'target' = 'open'): string {
  try {
    using handle = jail[open](path);
    return `/${handle.relativePath}`;
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    expect(error.path).toBe(path);
    return error.reason;
  }
}

const FILES = {
  'ws/a/x.txt': 'x',
  'ws/self': { symlink: '.' },
  'ws/out': { symlink: '../other' },
  'ws/over': { symlink: '../second/y.txt' },
  'ws/dangling': { symlink: '../nowhere' },
  'second/y.txt': 'y',
  'ws2/z.txt': 'z',
  'other/o.txt': 'o',
  door: { symlink: 'ws/a' },
  root: { symlink: 'ws' },
} as const;

describe.each(jailModes())('absolute jail, %s', (_, way) => {
  const jailOn = (dir: Dir, options = {}) =>
    openAbsoluteJail([dir.path('ws'), dir.path('second')], { ...way, ...options });

  test('a directory whose characters equal the bytes of a root is outside', async () => {
    // The bytes of the first, one by one as characters, are the second.
    await using dir = await tempDir({ 'é/f.txt': 'in', 'Ã©/f.txt': 'out' });
    const jail = openAbsoluteJail([dir.path('é')], way);
    expect(outcome(jail, dir.path('é/f.txt'))).toBe(dir.path('é/f.txt'));
    expect(outcome(jail, dir.path('Ã©/f.txt'))).toBe('escape');
  });

  test('the root of the file system is a root, with / as its key', () => {
    const jail = openAbsoluteJail(['/'], way);
    using entry = jail.entry('/');
    expect([entry.isRoot, jail.keyOf(entry)]).toEqual([true, '/']);
  });

  test('opens files in any of its directories, by any spelling of the path', async () => {
    await using dir = await tempDir(FILES);
    const jail = jailOn(dir);

    for (const spelling of [
      'ws/a/x.txt',
      'door/x.txt',
      'other/../ws/a/x.txt',
      'ws/self/a/x.txt',
      'nowhere/../ws/a/x.txt',
    ]) {
      expect([spelling, outcome(jail, dir.path(spelling))]).toEqual([spelling, dir.path('ws/a/x.txt')]);
    }
    expect(outcome(jail, dir.path('ws/over'))).toBe(dir.path('second/y.txt'));
  });

  test.each([
    ['other/o.txt', 'escape'],
    ['ws2/z.txt', 'escape'],
    ['ws/out/o.txt', 'escape'],
    ['ws/../other/o.txt', 'escape'],
    ['ws/nothing/../../other/o.txt', 'escape'],
    ['not-there/x', 'escape'],
    ['ws/dangling', 'dangling'],
    ['ws/missing.txt', 'missing'],
    ['ws/a', 'not-a-file'],
  ])('refuses %s with %s', async (path, reason) => {
    await using dir = await tempDir(FILES);
    expect(outcome(jailOn(dir), dir.path(path))).toBe(reason);
  });

  test('refuses a relative path unless it has a directory to resolve it from', async () => {
    await using dir = await tempDir(FILES);

    expect(outcome(jailOn(dir), 'a/x.txt')).toBe('relative');
    expect(outcome(jailOn(dir, { from: dir.path('ws') }), 'a/x.txt')).toBe(dir.path('ws/a/x.txt'));
    expect(outcome(jailOn(dir, { from: dir.path('ws') }), '../other/o.txt')).toBe('escape');
  });

  test('contains its roots themselves, by any name, and refuses to remove them', async () => {
    await using dir = await tempDir(FILES);
    mkdirSync(dir.path('ws/inner'));
    const jail = openAbsoluteJail([dir.path('ws'), dir.path('ws/inner')], way);
    const changes = new JailChanges(jail, { isSynced: false });
    const { signal } = new AbortController();

    expect(outcome(jail, dir.path('ws'), 'openDir')).toBe(dir.path('ws'));
    for (const root of ['ws', 'root', 'ws/inner']) {
      using entry = jail.entry(dir.path(root));
      expect(entry.stat?.isDirectory() || entry.stat?.isSymbolicLink()).toBe(true);
      const removing = changes.onEntry(dir.path(root), signal, (found) =>
        changes.remove(found, { recursive: true, signal }),
      );
      await expect(removing).rejects.toMatchObject({ reason: 'root' });
    }
    expect(readFileSync(dir.path('ws/a/x.txt'), 'utf8')).toBe('x');
  });

  test('creates missing parent directories of a target', async () => {
    await using dir = await tempDir(FILES);
    const jail = jailOn(dir);
    const changes = new JailChanges(jail, { isSynced: false });
    const { signal } = new AbortController();
    const path = dir.path('door/new/deep.txt');

    await changes.onTarget(path, signal, (target) => changes.write(target, Buffer.from('new'), { parents: true }));
    expect(readFileSync(dir.path('ws/a/new/deep.txt'), 'utf8')).toBe('new');
    expect(outcome(jail, dir.path('other/new.txt'), 'target')).toBe('escape');
    expect(outcome(jail, dir.path('ws/dangling'), 'target')).toBe('dangling');
  });

  test('uses the same lock key for a file as a jail on one directory', async () => {
    await using dir = await tempDir(FILES);
    const jail = jailOn(dir);
    using entry = jail.entry(dir.path('ws/a/x.txt'));
    expect(jail.keyOf(entry)).toBe(dir.path('ws/a/x.txt'));
  });

  test('resolves the target of a path, inside or outside', async () => {
    await using dir = await tempDir(FILES);
    const jail = jailOn(dir);
    expect(jail.resolveTarget(dir.path('ws/../other/./o.txt'))).toBe(dir.path('other/o.txt'));
    expect(jail.resolveTarget(dir.path('ws/out/not/there'))).toBe(dir.path('other/not/there'));
  });

  test('with / as its root refuses no path', async () => {
    await using dir = await tempDir(FILES);
    expect(outcome(openAbsoluteJail(['/'], way), dir.path('ws/out/o.txt'))).toBe(dir.path('other/o.txt'));
  });
});
