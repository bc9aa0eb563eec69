import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, renameSync, symlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { describe, expect, test } from 'vitest';

import { tempDir } from '#testing';
import { HostError } from '../host-error.ts';
import { JailChanges } from './jail-changes.ts';
import { openJail, type Jail } from '../jail/jail.ts';

type TempDir = Awaited<ReturnType<typeof tempDir>>;

const { signal } = new AbortController();
const namesIn = (dir: TempDir, name = '.') => readdirSync(dir.path(name), { recursive: true }).map(String).sort();
const modeOf = (dir: TempDir, name: string) => lstatSync(dir.path(name)).mode & 0o7777;

async function reasonOf(work: Promise<unknown>): Promise<string | undefined> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    expect(error.message).not.toMatch(/proc|\/tmp/);
    return error.reason;
  }
}

describe.each(['descriptor', 'portable'] as const)('%s jail', (mode) => {
  function setUp(dir: TempDir, isSynced = false): { jail: Jail; changes: JailChanges } {
    const jail = openJail(dir.path('ws'), { mode, isProtected: (path) => path.endsWith('.env') });
    return { jail, changes: new JailChanges(jail, { isSynced }) };
  }

  test('an entry is the path itself, a target the file that a write to it reaches', async () => {
    await using dir = await tempDir({
      'ws/real/a.txt': '',
      'ws/link': { symlink: 'real/a.txt' },
      'ws/chain': { symlink: 'dirlink/../link' },
      'ws/dirlink': { symlink: 'real' },
      'ws/.env': { symlink: 'real/a.txt' },
    });
    const { jail } = setUp(dir);
    const find = (kind: 'entry' | 'target', path: string) => {
      using entry = jail[kind](path);
      return `${entry.relativePath}${entry.stat ? '' : ' (free)'}`;
    };
    expect(['link', 'chain', 'dirlink/a.txt', 'no/way', '', 'real/..'].map((path) => find('entry', path))).toEqual([
      'link',
      'chain',
      'real/a.txt',
      'no/way (free)',
      '',
      '',
    ]);
    expect(['link', 'chain', 'dirlink', 'dirlink/new'].map((path) => find('target', path))).toEqual([
      'real/a.txt',
      'real/a.txt',
      'real',
      'real/new (free)',
    ]);
    for (const kind of ['entry', 'target', 'open'] as const) expect(() => jail[kind]('.env')).toThrow(HostError);
  });

  test('a symlink to a name that is not UTF-8 is refused, not resolved to another file', async () => {
    await using dir = await tempDir({ 'ws/\uFFFD': 'another', 'ws/link': { symlink: 'x' } });
    const { jail } = setUp(dir);
    mkdirSync(Buffer.from(`${dir.path('ws')}/\xff`, 'latin1'));
    renameSync(dir.path('ws/link'), dir.path('ws/old'));
    symlinkSync(Buffer.from('\xff', 'latin1'), dir.path('ws/link'));
    expect(() => jail.target('link')).toThrow(expect.objectContaining({ reason: 'invalid-name' }));
  });

  test('directories are created with their parents and with exactly the mode', async () => {
    await using dir = await tempDir({ 'ws/real/': '', 'ws/link': { symlink: 'real' }, 'ws/file': '' });
    const { changes } = setUp(dir, true);
    const make = (path: string, parents: boolean) =>
      reasonOf(changes.onEntry(path, signal, (entry) => changes.makeDirectory(entry, { mode: 0o777, parents })));
    const umask = process.umask(0o027);
    try {
      expect(await make('link/a/b/c', true)).toBeUndefined();
    } finally {
      process.umask(umask);
    }
    expect(['a', 'a/b', 'a/b/c'].map((name) => modeOf(dir, `ws/real/${name}`))).toEqual([0o750, 0o750, 0o777]);
    expect([
      await make('real', true),
      await make('no/x', false),
      await make('file/x', true),
      await make('file/x/y', true),
      await make('a.env/x/y.env', true),
      await make('.', true),
    ]).toEqual(['exists', 'missing', 'exists', 'not-a-parent', 'protected', 'root']);
    expect(namesIn(dir, 'ws/real')).toEqual(['a', 'a/b', 'a/b/c']);
    expect(readdirSync(dir.path('ws'))).toEqual(['file', 'link', 'real']);
  });

  test('permission bits are set through symlinks inside the root only', async () => {
    await using dir = await tempDir({
      'ws/a': { mode: 0o600, content: '' },
      'ws/link': { symlink: 'a' },
      'ws/folder/': '',
      'ws/out': { symlink: '../outside' },
      outside: { mode: 0o600, content: '' },
    });
    const { changes } = setUp(dir);
    const chmod = (path: string, bits: number) =>
      reasonOf(changes.onTarget(path, signal, async (target) => changes.chmod(target, bits)));
    expect([await chmod('link', 0o640), await chmod('folder', 0o711), await chmod('out', 0o777)]).toEqual([
      undefined,
      undefined,
      'escape',
    ]);
    expect(await chmod('missing', 0o777)).toBe('missing');
    expect(['ws/a', 'ws/folder', 'outside'].map((name) => modeOf(dir, name))).toEqual([0o640, 0o711, 0o600]);
  });

  test('rename moves the entry itself and replaces another only with overwrite', async () => {
    await using dir = await tempDir({
      'ws/a': 'a',
      'ws/b': 'b',
      'ws/link': { symlink: 'a' },
      'ws/folder/x': '',
      'ws/secret/deep/.env': '',
      'ws/out': { symlink: '../outside' },
      'outside/': '',
    });
    const { changes } = setUp(dir, true);
    const move = (from: string, to: string, overwrite = false) =>
      reasonOf(changes.rename(from, to, { overwrite, signal }));
    expect([
      await move('link', 'folder/link'),
      await move('folder', 'moved'),
      await move('a', 'b', true),
      await move('b', 'moved/x'),
      await move('b', 'out/b'),
      await move('out/b', 'b'),
      await move('missing', 'c'),
      await move('b', 'c.env'),
      await move('secret', 'plain'),
      await move('.', 'c'),
      await move('b', '.', true),
      await move('b', 'no/b'),
      await move('b', 'moved', true),
    ]).toEqual([
      undefined,
      undefined,
      undefined,
      'exists',
      'escape',
      'escape',
      'missing',
      'protected',
      'protected',
      'root',
      'root',
      'missing',
      'not-a-file',
    ]);
    expect(readlinkSync(dir.path('ws/moved/link'))).toBe('a');
    expect(readFileSync(dir.path('ws/b'), 'utf8')).toBe('a');
    expect(namesIn(dir)).toEqual(
      [
        'outside',
        'ws',
        ...['b', 'moved', 'moved/link', 'moved/x', 'out', 'secret', 'secret/deep', 'secret/deep/.env'].map(
          (n) => `ws/${n}`,
        ),
      ].sort(),
    );
  });

  test('two crosswise renames do not deadlock', async () => {
    await using dir = await tempDir({ 'ws/a': '', 'ws/b': '' });
    const { changes } = setUp(dir);
    const moves = Array.from({ length: 50 }, (_, i) =>
      changes.rename(i % 2 ? 'a' : 'b', i % 2 ? 'b' : 'a', { overwrite: true, signal }).catch(() => {}),
    );
    await Promise.all(moves);
    expect(namesIn(dir, 'ws')).toHaveLength(1);
  });

  test('a caller that aborts while it waits for the lock changes nothing', async () => {
    await using dir = await tempDir({ 'ws/a': 'old' });
    const { changes } = setUp(dir);
    const caller = new AbortController();
    const first = changes.onTarget('a', signal, async () => caller.abort(new Error('gone')));
    const second = changes.onTarget('a', caller.signal, (target) => changes.write(target, Buffer.from('new')));
    await first;
    await expect(second).rejects.toThrow('gone');
    expect(readFileSync(dir.path('ws/a'), 'utf8')).toBe('old');
  });

  test('a path that resolves to another file once the lock is granted is resolved and locked again', async () => {
    await using dir = await tempDir({
      'ws/a': '',
      'ws/b': '',
      'ws/link': { symlink: 'a' },
      'ws/next': { symlink: 'b' },
    });
    const { changes } = setUp(dir);
    const events: string[] = [];
    const first = changes.onTarget('link', signal, async () => {
      await sleep(2);
      renameSync(dir.path('ws/next'), dir.path('ws/link'));
    });
    const second = changes.onTarget('link', signal, async ({ relativePath }) => {
      const third = changes.onTarget('b', signal, async () => events.push('b again'));
      await sleep(2);
      events.push(relativePath);
      return { third };
    });
    await first;
    await (
      await second
    ).third;
    expect(events).toEqual(['b', 'b again']);
  });

  test('a file that already has the content is not written, and `before` of the caller is trusted', async () => {
    await using dir = await tempDir({ 'ws/a': 'old' });
    const { changes } = setUp(dir);
    const isReplaced = async (bytes: string, before?: string) => {
      const { ino } = lstatSync(dir.path('ws/a'));
      const options = before === undefined ? {} : { before: Buffer.from(before) };
      await changes.onTarget('a', signal, (target) => changes.write(target, Buffer.from(bytes), options));
      return lstatSync(dir.path('ws/a')).ino !== ino;
    };
    expect(await isReplaced('old')).toBe(false);
    expect(await isReplaced('old', 'old')).toBe(false);
    expect(await isReplaced('old', 'was')).toBe(true);
    expect(await isReplaced('new', 'old')).toBe(true);
    expect(readFileSync(dir.path('ws/a'), 'utf8')).toBe('new');
  });

  test('a file has one lock, whatever path and jail reach it', async () => {
    await using dir = await tempDir({ 'ws/sub/a': '', 'ws/link': { symlink: 'sub' } });
    const { changes } = setUp(dir);
    const inner = new JailChanges(openJail(dir.path('ws/sub'), { mode }), { isSynced: false });
    const events: string[] = [];
    const work = (name: string) => async () => {
      events.push(name);
      await sleep(2);
      events.push(name);
    };
    await Promise.all([
      changes.onTarget('sub/a', signal, work('1')),
      changes.onTarget('link/a', signal, work('2')),
      inner.onTarget('a', signal, work('3')),
    ]);
    expect(events).toEqual(['1', '1', '2', '2', '3', '3']);
  });
});
