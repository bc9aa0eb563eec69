import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  linkSync,
  mkdirSync,
  renameSync,
  rmSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';

import { describe, expect, test } from 'vitest';

import { jailModes, rounds, tempDir } from '#testing';
import { toBytes } from '../text/byte-string.ts';
import { HostError, type HostReason } from '../host-error.ts';
import { openJail, type Jail } from './jail.ts';

/** The canonical path that a path opens, or the reason why it opens none. */
function outcome(jail: Jail, path: string, open: 'open' | 'openDir' = 'open'): string {
  try {
    using handle = jail[open](path);
    return `opens ${handle.relativePath}`;
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    expect(error.path).toBe(path);
    return error.reason;
  }
}

async function text(jail: Jail, path: string): Promise<string> {
  using file = jail.open(path);
  return String(await file.read());
}

describe.each(jailModes())('%s jail', (_, way) => {
  const jailOn = (dir: { path(name: string): string }) => openJail(dir.path('ws'), way);

  test('reports its mode and opening', async () => {
    await using dir = await tempDir({ 'ws/': '' });
    const { mode, opening } = jailOn(dir);
    expect({ mode, opening }).toEqual(way);
  });

  test('opens files inside by any spelling', async () => {
    await using dir = await tempDir({
      'ws/a/deep/x.txt': 'x',
      'ws/b.txt': 'b',
      'ws/link': { symlink: 'a/deep/x.txt' },
      'ws/chain': { symlink: 'link' },
      'ws/dirlink': { symlink: 'a/deep' },
      'ws/self': { symlink: '.' },
      'ws/x (deleted)': 'not at all',
    });
    const jail = jailOn(dir);
    dir.add({ 'ws/absolute': { symlink: dir.path('ws/b.txt') } });

    const spellings = {
      'a/deep/x.txt': 'a/deep/x.txt',
      './a//deep/./x.txt': 'a/deep/x.txt',
      'a/../b.txt': 'b.txt',
      'b.txt/': 'b.txt',
      'nowhere/../b.txt': 'b.txt',
      'b.txt/../b.txt': 'b.txt',
      link: 'a/deep/x.txt',
      chain: 'a/deep/x.txt',
      'dirlink/x.txt': 'a/deep/x.txt',
      'dirlink/../deep/x.txt': 'a/deep/x.txt',
      'dirlink/nowhere/../../deep/x.txt': 'a/deep/x.txt',
      absolute: 'b.txt',
      'self/self/b.txt': 'b.txt',
      'x (deleted)': 'x (deleted)',
    };
    const opened = Object.keys(spellings).map((path) => outcome(jail, path));
    expect(opened).toEqual(Object.values(spellings).map((path) => `opens ${path}`));
    const roots = ['', '.', './', 'a/..', 'self'].map((path) => outcome(jail, path, 'openDir'));
    expect(new Set(roots)).toEqual(new Set(['opens ']));
  });

  test('refuses each path with its reason', async () => {
    await using dir = await tempDir({
      'ws/a.txt': 'a',
      'ws/folder/': '',
      'ws/out': { symlink: '../outside' },
      'ws/out-file': { symlink: '../outside/secret.txt' },
      'ws/dangling': { symlink: 'nothing-there' },
      'ws/dangling-out': { symlink: '../outside/nothing-there' },
      'ws/loop': { symlink: 'loop' },
      'ws/self': { symlink: '.' },
      'ws/twin': { symlink: '../ws-evil/x' },
      'outside/secret.txt': 'SECRET',
      'ws-evil/x': 'SECRET',
    });
    const jail = jailOn(dir);
    const cases: Record<string, HostReason> = {
      [dir.path('ws/a.txt')]: 'absolute',
      '/etc/passwd': 'absolute',
      missing: 'missing',
      'missing/child': 'missing',
      'folder/missing': 'missing',
      'a.txt/child': 'not-a-parent',
      folder: 'not-a-file',
      '../outside/secret.txt': 'escape',
      '../ws-evil/x': 'escape',
      '../../etc/passwd': 'escape',
      'out/secret.txt': 'escape',
      'out/nothing-there': 'escape',
      'out/secret.txt/child': 'escape',
      'out-file': 'escape',
      'out-file/child': 'escape',
      twin: 'escape',
      '..': 'escape',
      'self/..': 'escape',
      'no/such/../../../x': 'escape',
      dangling: 'dangling',
      'dangling/child': 'dangling',
      'dangling/../a.txt': 'dangling',
      'dangling-out': 'dangling',
      loop: 'dangling',
      'loop/child': 'dangling',
      'a\0b': 'invalid-name',
      ['n'.repeat(300)]: 'invalid-name',
      ['n/'.repeat(3000)]: 'invalid-name',
    };
    const outcomes = Object.fromEntries(Object.keys(cases).map((path) => [path, outcome(jail, path)]));
    expect(outcomes).toEqual(cases);
    expect(outcome(jail, 'a.txt', 'openDir')).toBe('not-a-directory');
  });

  test('gives the same answer for existing and missing outside paths, also if .. leads back inside', async () => {
    await using dir = await tempDir({ 'ws/a.txt': 'a', 'ws/out': { symlink: '../outside' }, 'outside/there/x': '' });
    const jail = jailOn(dir);
    const ways = (name: string) => [
      `../outside/${name}`,
      `out/${name}`,
      `../outside/${name}/../../ws/a.txt`,
      `out/${name}/../../ws/a.txt`,
    ];
    const answers = ['there', 'not-there', 'there/x/below'].flatMap(ways).map((path) => outcome(jail, path));
    expect(new Set(answers)).toEqual(new Set(['escape']));
  });

  test('coder.P3 never shows a path of the host', async () => {
    await using dir = await tempDir({ 'ws/a.txt': 'a', 'ws/out': { symlink: '../outside' } });
    const jail = jailOn(dir);
    for (const path of ['missing', 'a.txt/x', 'out', '..', 'n'.repeat(300)]) {
      expect(() => jail.open(path)).toThrow(expect.not.stringContaining(dir.root));
      expect(() => jail.open(path)).not.toThrow(/proc|workcell-/);
    }
  });

  test('refuses a protected path before it reveals anything else about it', async () => {
    await using dir = await tempDir({
      'ws/.env': 'SECRET',
      'ws/notes': { symlink: '.env' },
      'ws/secrets/sub/x': '',
      'ws/pipe.key': { fifo: true },
    });
    const isProtected = (path: string) => path !== 'secrets';
    const jail = openJail(dir.path('ws'), { ...way, isProtected });
    expect(['.env', 'notes', 'secrets/sub', 'pipe.key', 'secrets', ''].map((path) => outcome(jail, path))).toEqual([
      'protected',
      'protected',
      'protected',
      'protected',
      'not-a-file',
      'not-a-file',
    ]);
    expect(outcome(jail, 'secrets/sub', 'openDir')).toBe('opens secrets/sub');
  });

  test('does not open a FIFO: a blocked writer stays blocked', async () => {
    await using dir = await tempDir({
      'ws/pipe': { fifo: true },
      'ws/out': { symlink: '../pipe' },
      pipe: { fifo: true },
    });
    const jail = jailOn(dir);
    const writers = ['ws/pipe', 'pipe'].map((name) =>
      spawn('sh', ['-c', 'echo opening; exec echo x > "$0"', dir.path(name)]),
    );
    await Promise.all(writers.map((writer) => once(writer.stdout, 'data')));

    expect(outcome(jail, 'pipe')).toBe('not-a-file');
    expect(outcome(jail, 'out')).toBe('escape');
    using target = jail.target('pipe');
    expect(() => target.open()).toThrow('pipe is not a regular file');
    expect(writers.map((writer) => writer.exitCode)).toEqual([null, null]);
    // A process that really reads finds the writers still there.
    const cat = (name: string) => execFileSync('cat', [dir.path(name)], { timeout: 30_000 }).toString();
    expect(['ws/pipe', 'pipe'].map(cat)).toEqual(['x\n', 'x\n']);
  });

  test('a link to a device or through /proc is an escape', async () => {
    await using dir = await tempDir({ 'ws/null': { symlink: '/dev/null' }, 'ws/cwd': { symlink: '/proc/self/cwd' } });
    const jail = jailOn(dir);
    expect(['null', 'cwd', 'cwd/package.json'].map((path) => outcome(jail, path))).toEqual(Array(3).fill('escape'));
  });

  test('a hard link inside is opened although its other name is outside', async () => {
    await using dir = await tempDir({ 'ws/': '', 'outside.txt': 'linked' });
    linkSync(dir.path('outside.txt'), dir.path('ws/hard'));
    expect(await text(jailOn(dir), 'hard')).toBe('linked');
  });

  test('reads at most the size that the file had when it was opened', async () => {
    await using dir = await tempDir({ 'ws/growing': 'abc', 'ws/shrinking': 'abc' });
    const jail = jailOn(dir);
    using growing = jail.open('growing');
    using shrinking = jail.open('shrinking');
    appendFileSync(dir.path('ws/growing'), 'def');
    truncateSync(dir.path('ws/shrinking'), 1);
    expect([await growing.read(), await shrinking.read()].map(String)).toEqual(['abc', 'a']);
  });

  test('an open handle keeps its file when the name is replaced', async () => {
    await using dir = await tempDir({ 'ws/a.txt': 'first', 'outside.txt': 'SECRET' });
    const jail = jailOn(dir);
    using file = jail.open('a.txt');
    using folder = jail.openDir('.');
    unlinkSync(dir.path('ws/a.txt'));
    dir.add({ 'ws/a.txt': { symlink: '../outside.txt' } });

    expect(String(await file.read())).toBe('first');
    expect(folder.lstat(toBytes('a.txt'))?.kind).toBe('symlink');
    expect(folder.lstat(toBytes('b.txt'))).toBeUndefined();
  });

  test('a root that was removed and created again works again', async () => {
    await using dir = await tempDir({ 'ws/a.txt': 'old' });
    const jail = jailOn(dir);
    rmSync(dir.path('ws'), { recursive: true });
    expect(outcome(jail, 'a.txt')).toBe('missing');
    expect(outcome(jail, '.', 'openDir')).toBe('missing');

    dir.add({ 'ws/a.txt': 'new' });
    expect(await text(jail, 'a.txt')).toBe('new');

    renameSync(dir.path('ws'), dir.path('moved'));
    dir.add({ ws: { symlink: 'moved' } });
    expect(outcome(jail, 'a.txt')).toBe('escape');
  });

  test.skipIf(process.getuid?.() === 0)(
    'a path without permission is denied inside and an escape outside',
    async () => {
      await using dir = await tempDir({
        'ws/locked/a.txt': '',
        'ws/shut.txt': '',
        'ws/out': { symlink: '../locked/a.txt' },
        'locked/a.txt': '',
      });
      const jail = jailOn(dir);
      const paths = ['ws/locked', 'ws/shut.txt', 'locked'].map(dir.path);
      for (const path of paths) chmodSync(path, 0o000);
      try {
        const outcomes = ['locked/a.txt', 'locked/a.txt/../../shut.txt', 'shut.txt', 'out'].map((path) =>
          outcome(jail, path),
        );
        expect(outcomes).toEqual(['denied', 'denied', 'denied', 'dangling']);
      } finally {
        for (const path of paths) chmodSync(path, 0o700);
      }
    },
  );
});

test.each(jailModes('descriptor'))('a file that is replaced in a loop is always found: %s', async (_, way) => {
  await using dir = await tempDir({ 'ws/a.txt': 'x' });
  const jail = openJail(dir.path('ws'), way);
  const loop = 'while :; do echo y > "$0.new" && mv "$0.new" "$0"; done';
  const writer = spawn('sh', ['-c', loop, dir.path('ws/a.txt')]);
  try {
    const seen = new Set(Array.from({ length: rounds(2000, 2000, 20_000) }, () => outcome(jail, 'a.txt')));
    expect(seen).toEqual(new Set(['opens a.txt']));
  } finally {
    writer.kill('SIGKILL');
    // The mv that it was running keeps its pipes open until it ends.
    await once(writer, 'close');
  }
});

test('reading a large file yields to the event loop', async () => {
  const content = 'x'.repeat(5 << 20);
  await using dir = await tempDir({ large: content });
  using file = openJail(dir.root).open('large');
  let turns = 0;
  const counting = setInterval(() => turns++, 0);
  const bytes = await file.read();
  clearInterval(counting);
  expect(String(bytes) === content).toBe(true);
  expect(turns).toBeGreaterThan(0);
});

test('opens on a directory or a symlink to one, and refuses anything else', async () => {
  await using dir = await tempDir({ 'real/a.txt': 'a', link: { symlink: 'real' }, 'file.txt': '' });
  expect(await text(openJail(dir.path('link')), 'a.txt')).toBe('a');
  const reasonFor = (name: string) => {
    try {
      openJail(dir.path(name));
    } catch (error) {
      return (error as HostError).reason;
    }
  };
  expect([reasonFor('missing'), reasonFor('file.txt')]).toEqual(['missing', 'not-a-directory']);
});

test('the root of the file system can be a root', async () => {
  await using dir = await tempDir({ 'a.txt': 'a' });
  const jail = openJail('/');
  const path = dir.path('a.txt').slice(1);
  expect([path, '..'].map((one) => outcome(jail, one))).toEqual([`opens ${path}`, 'escape']);
});

test('a folder in a folder whose path is too long for the kernel is refused', async () => {
  await using dir = await tempDir({ 'ws/': '' });
  const jail = openJail(dir.path('ws'));
  const name = 'n'.repeat(250);
  let [at, path] = [dir.path('ws'), ''];
  for (let depth = 0; depth < 15; depth++) {
    at += `/${name}`;
    path += `${name}/`;
    mkdirSync(at);
  }
  writeFileSync(`${at}/f`, '');
  expect(outcome(jail, `${path}f`)).toBe(`opens ${path}f`);
  expect(outcome(jail, `${path}${name}/${name}`)).toBe('invalid-name');
});
