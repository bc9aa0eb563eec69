import { once } from 'node:events';
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';

import { describe, expect, test } from 'vitest';

import { tempDir } from '#testing';
import { toBytes, type ByteString } from './byte-string.ts';
import { systemCalls, type SystemCalls } from './system-calls.ts';

const calls = systemCalls();

test.skipIf(process.platform !== 'linux' || !isInstalled())('are there wherever the package is', () => {
  expect(calls).toBeDefined();
});

test('are not there on a worker thread, which may be ended while the package loads', async () => {
  const built = new URL('../../dist/host/system-calls.js', import.meta.url).href;
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

/** What the descriptor gives; it is closed. */
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
  const { openLinkless, openAt, isRegularFile } = calls ?? ({} as SystemCalls);

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

  test('opens names of a held directory, whatever their bytes are', async () => {
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
