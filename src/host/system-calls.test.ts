/** The calls beside Node's own, and a walk that has them beside one that has not. */
import { lstatSync, mkdirSync, readSync, symlinkSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { tempDir } from '#testing';
import { toBytes, type ByteString } from './byte-string.ts';
import { systemCalls } from './system-calls.ts';
import { walkDirsBelow } from './walk-dir.ts';

const calls = systemCalls();

describe.skipIf(!calls)(`system calls${calls ? '' : ' (koffi is not installed)'}`, () => {
  test('a file is told apart as by lstat, links not followed', async () => {
    await using dir = await tempDir({ 'a.txt': 'text' });
    symlinkSync('a.txt', join(dir.root, 'link'));
    for (const name of ['a.txt', 'link', '.']) {
      const path = join(dir.root, name);
      const { ino, size, mtimeMs, ctimeMs } = lstatSync(path);
      expect(calls!.identify(path)).toEqual({ ino, size, mtimeMs, ctimeMs });
    }
    expect(calls!.identify(join(dir.root, 'missing'))).toBeUndefined();
  });

  test('a file is opened in the held directory, and a link in its place is not', async () => {
    await using dir = await tempDir({ 'a.txt': 'text' });
    symlinkSync('a.txt', join(dir.root, 'link'));
    const held = await open(dir.root);
    try {
      const fd = calls!.openFileAt(held.fd, 'a.txt');
      const bytes = Buffer.alloc(10);
      expect(bytes.toString('utf8', 0, readSync(fd, bytes))).toBe('text');
      calls!.close(fd);
      expect(() => readSync(fd, bytes)).toThrow('EBADF');
      expect([calls!.openFileAt(held.fd, 'link'), calls!.openFileAt(held.fd, 'missing')]).toEqual([-1, -1]);
    } finally {
      await held.close();
    }
  });
});

describe.each([
  ['with', calls],
  ['without', undefined],
])('a walked directory %s them', (_, given) => {
  test('gives the bytes of a file and the reason why there are none', async () => {
    await using dir = await tempDir({ 'a.txt': 'text', 'ä.txt': 'Text' });
    symlinkSync('a.txt', join(dir.root, 'link'));
    mkdirSync(join(dir.root, 'folder'));
    writeFileSync(Buffer.from(`${dir.root}/\xff`, 'latin1'), 'odd');
    using held = disposing(walkDirsBelow(toBytes(dir.root), 'descriptor', given)('' as ByteString));
    const read = (name: string) => {
      try {
        return held.withFile(name as ByteString, (fd) => {
          const bytes = Buffer.alloc(10);
          return bytes.toString('utf8', 0, readSync(fd, bytes));
        });
      } catch (error) {
        return (error as NodeJS.ErrnoException).code;
      }
    };
    const names = ['a.txt', toBytes('ä.txt'), '\xff', 'link', 'missing', 'folder'];
    expect(names.map(read)).toEqual(['text', 'Text', 'odd', 'ELOOP', 'ENOENT', 'EISDIR']);
  });
});

function disposing<T extends { close(): void }>(dir: T): T & Disposable {
  return Object.assign(dir, { [Symbol.dispose]: () => dir.close() });
}
