import { once } from 'node:events';
import {
  closeSync,
  constants,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  truncateSync,
  utimesSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';

import { describe, expect, test } from 'vitest';

import { tempDir } from '#testing';
import { toBytes, toText, type ByteString } from '../text/byte-string.ts';
import { entryStatOf } from '../walk/entry-kind.ts';
import { systemCalls, type SystemCalls } from './system-calls.ts';

const calls = systemCalls();

test.skipIf(process.platform !== 'linux' || !isInstalled())('are there wherever the package is', () => {
  expect(calls).toBeDefined();
});

test('are not there on a worker thread, which may be ended while the package loads', async () => {
  const built = new URL('../../../dist/host/system/system-calls.js', import.meta.url).href;
  const script = `
    const { parentPort, workerData } = require('node:worker_threads');
    import(workerData).then(({ systemCalls }) => parentPort.postMessage(typeof systemCalls()));`;
  const worker = new Worker(script, { eval: true, workerData: built });
  expect(await once(worker, 'message')).toEqual(['undefined']);
  await worker.terminate();
});

function isInstalled(): boolean {
  try {
    return createRequire(import.meta.url).resolve('koffi') !== '';
  } catch {
    return false;
  }
}

/** The content behind the descriptor, which is closed afterwards. */
function contentOf(fd: number | undefined): string | undefined {
  if (fd === undefined) return undefined;
  const bytes = Buffer.alloc(100);
  try {
    return bytes.toString('utf8', 0, readSync(fd, bytes, 0, bytes.length, 0));
  } finally {
    closeSync(fd);
  }
}

describe.skipIf(!calls)('with the package', () => {
  const { openLinkless, openAt, statAt, fstat, lstat, linkAt, isRegularFile } = calls ?? ({} as SystemCalls);

  test('opens a path without links, and none with one', async () => {
    await using dir = await tempDir({
      'a/b/f.txt': 'content',
      'a/ß 漢.txt': 'named',
      'a/file': { symlink: 'b/f.txt' },
      folder: { symlink: 'a' },
    });
    const paths = ['a/b/f.txt', 'a/ß 漢.txt', 'a/b/../b/f.txt', 'a/file', 'folder/b/f.txt', 'a/missing', 'a/b/f.txt/x'];
    expect(paths.map((path) => contentOf(openLinkless(dir.path(path), constants.O_RDONLY)))).toEqual([
      'content',
      'named',
      'content',
      ...Array<undefined>(4).fill(undefined),
    ]);
    expect(openLinkless(`/proc/${process.pid}/cwd`, constants.O_RDONLY)).toBeUndefined();
  });

  test('opens names of an open directory, whatever their bytes are', async () => {
    await using dir = await tempDir({ 'a/f.txt': 'content', 'a/ß': 'named', 'a/link': { symlink: 'f.txt' } });
    const bytes = 'not \xff text' as ByteString;
    const fd = openSync(dir.path('a'), constants.O_RDONLY);
    try {
      closeSync(openSync(Buffer.from(`${dir.path('a')}/${bytes}`, 'latin1'), 'w'));

      const names = ['f.txt', toBytes('ß'), bytes, 'link', 'missing'] as ByteString[];
      const flags = constants.O_RDONLY | constants.O_NOFOLLOW;
      expect(names.map((name) => contentOf(openAt(fd, name, flags)))).toEqual([
        'content',
        'named',
        '',
        undefined,
        undefined,
      ]);
    } finally {
      closeSync(fd);
    }
  });

  test('sees of a name in an open directory what Node does', async () => {
    await using dir = await tempDir({
      'f.txt': 'content',
      run: { content: '', mode: 0o4755 },
      'folder/': '',
      link: { symlink: 'f.txt' },
      dangling: { symlink: 'nothing' },
      pipe: { fifo: true },
      ß: '',
      huge: '',
    });
    truncateSync(dir.path('huge'), 5 * 2 ** 32 + 3);
    utimesSync(dir.path('huge'), 0, -86_400.5);
    utimesSync(dir.path('run'), 0, 2 ** 33 + 0.001);
    const bytes = 'not \xff text' as ByteString;
    closeSync(openSync(Buffer.from(`${dir.root}/${bytes}`, 'latin1'), 'w'));
    const fd = openSync(dir.root, constants.O_RDONLY);
    try {
      for (const name of readdirSync(dir.root, 'latin1') as ByteString[]) {
        const stat = lstatSync(Buffer.from(`${dir.root}/${name}`, 'latin1'));
        const { nlink, uid, gid } = stat;
        const expected = { ...entryStatOf(stat), nlink, uid, gid };
        expect([name, statAt(fd, name)]).toEqual([name, expected]);
        if (name === bytes) continue;
        expect(lstat(dir.path(toText(name)))).toEqual(expected);
        if (!stat.isFile()) continue;
        const file = openSync(dir.path(toText(name)), constants.O_RDONLY);
        expect(fstat(file)).toEqual(expected);
        closeSync(file);
      }
      expect([fstat(-1), lstat(dir.path('missing'))]).toEqual([undefined, undefined]);
      expect(['missing', 'f.txt/x'].map((name) => statAt(fd, toBytes(name)))).toEqual([undefined, undefined]);
    } finally {
      closeSync(fd);
    }
  });

  test('links a name in an open directory, a symlink itself, and nothing over an existing file', async () => {
    await using dir = await tempDir({ 'in/ß': 'content', 'in/link': { symlink: 'ß' }, taken: 'kept' });
    const fd = openSync(dir.path('in'), constants.O_RDONLY);
    try {
      const made = ['ß', 'link', 'missing'].map((name) => linkAt(fd, toBytes(name), dir.path(`to ${name} 漢`)));
      expect(made).toEqual([true, true, false]);
      expect(linkAt(fd, toBytes('ß'), dir.path('taken'))).toBe(false);
    } finally {
      closeSync(fd);
    }
    for (const name of ['ß', 'link']) {
      expect(lstatSync(dir.path(`to ${name} 漢`)).ino).toBe(lstatSync(dir.path(`in/${name}`)).ino);
    }
    expect(readFileSync(dir.path('taken'), 'utf8')).toBe('kept');
  });

  test('knows a regular file from everything else', async () => {
    await using dir = await tempDir({
      'f.txt': '',
      'folder/': '',
      link: { symlink: 'f.txt' },
      pipe: { fifo: true },
    });
    const paths = ['f.txt', 'folder', 'link', 'pipe', 'missing', 'f.txt/x'];
    expect(paths.map((path) => isRegularFile(dir.path(path)))).toEqual([true, false, false, false, false, false]);
    expect(isRegularFile('/dev/null')).toBe(false);
  });

  test('leaves nothing open for child processes', async () => {
    await using dir = await tempDir({ 'f.txt': '' });
    const folder = openSync(dir.root, constants.O_RDONLY);
    const opened = [
      openLinkless(dir.path('f.txt'), constants.O_RDONLY)!,
      openAt(folder, toBytes('f.txt'), constants.O_RDONLY)!,
    ];
    const flags = opened.map((fd) => /flags:\s+(\d+)/.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))![1]!);
    for (const fd of [...opened, folder]) closeSync(fd);
    expect(flags.map((each) => parseInt(each, 8) & 0o2000000)).toEqual([0o2000000, 0o2000000]);
  });
});
