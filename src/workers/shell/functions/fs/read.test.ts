import { randomBytes } from 'node:crypto';
import { chmodSync, readdirSync, statSync, truncateSync, writeFileSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import type { ChannelRef } from '#protocol';
import { serveWorker, tempDir, type ServedWorker, type TempDir } from '#testing';
import { shell } from '../../index.ts';

const MiB = 2 ** 20;

interface Reply {
  content: ChannelRef;
  size: number;
  mode: string;
  mtime: number;
}

const serve = (dir: TempDir, more: object = {}) => serveWorker(shell, { fs: { host_root: dir.path('j'), ...more } });
const read = (served: ServedWorker, path: string) => served.call<Reply>('shell::fs::read', { path });

/** The contents of a channel: the bytes, the text messages, and the largest piece. */
async function drain(served: ServedWorker, ref: ChannelRef) {
  const peer = await served.connect('peer');
  const pieces: Uint8Array[] = [];
  const texts: string[] = [];
  for await (const item of await peer.openReader(ref)) {
    if (typeof item === 'string') texts.push(item);
    else pieces.push(item);
  }
  return { bytes: Buffer.concat(pieces), texts, largest: Math.max(0, ...pieces.map(({ length }) => length)) };
}

describe('through a channel', () => {
  test.each([512 * 1024, 0, 1, 65_536, 65_537, 700_001])('shell.F66 %d bytes come as they are', async (size) => {
    const content = randomBytes(size);
    await using dir = await tempDir({ 'j/f': content, 'j/link': { symlink: 'f' } });
    chmodSync(dir.path('j/f'), 0o644);
    await using served = await serve(dir);
    const reply = await read(served, dir.path('j/link'));
    expect(reply).toEqual({
      content: { channel_id: expect.any(String), access_key: expect.any(String), direction: 'read' },
      size,
      mode: '0644',
      mtime: Math.floor(statSync(dir.path('j/f')).mtimeMs / 1000),
    });
    const { bytes, texts, largest } = await drain(served, reply.content);
    expect(bytes.equals(content)).toBe(true);
    expect([texts, largest]).toEqual([[], Math.min(size, 65_536)]);
  });

  test('shell.F68 what cannot be read makes no channel', async () => {
    await using dir = await tempDir({
      'j/d/': '',
      'j/pipe': { fifo: true },
      'j/big': 'x'.repeat(11),
      'j/ok': '0123456789',
    });
    await using served = await serve(dir, { max_read_bytes: 10 });
    for (const [path, code] of [
      ['j/d', 'S212'],
      ['j/pipe', 'S212'],
      ['j/gone', 'S211'],
      ['j/big', 'S218'],
    ] as const) {
      await expect(read(served, dir.path(path))).rejects.toMatchObject({ code });
    }
    expect(served.engine.channels.count).toBe(0);
    expect(await read(served, dir.path('j/ok'))).toMatchObject({ size: 10 });
  });

  test('what was replaced after it was opened is read as it was', async () => {
    await using dir = await tempDir({ 'j/f': 'first' });
    await using served = await serve(dir);
    const { content } = await read(served, dir.path('j/f'));
    await served.call('shell::fs::write', { path: dir.path('j/f'), content: 'second, and longer' });
    expect((await drain(served, content)).bytes.toString()).toBe('first');
  });

  test('a file that shrinks sends a message before the stream breaks off', async () => {
    await using dir = await tempDir({ 'j/f': '' });
    truncateSync(dir.path('j/f'), 16 * MiB);
    await using served = await serve(dir);
    const { content, size } = await read(served, dir.path('j/f'));
    const peer = await served.connect('peer');
    const texts: string[] = [];
    let count = 0;
    const reading = async () => {
      for await (const item of await peer.openReader(content)) {
        if (count === 0) truncateSync(dir.path('j/f'), 0);
        if (typeof item === 'string') texts.push(item);
        else count += item.length;
      }
    };
    await expect(reading()).rejects.toThrow('the writer of this channel broke off');
    expect(count).toBeLessThan(size);
    expect(texts).toEqual([JSON.stringify({ error: `${dir.path('j/f')} failed in a system call (ESTALE)` })]);
  });
});

test('shell.P13 shell.F69 callers that never read leave the worker healthy, up to a limit that frees itself', async () => {
  await using dir = await tempDir({ 'j/f': '' });
  truncateSync(dir.path('j/f'), 16 * MiB);
  await using served = await serve(dir);
  const before = openDescriptors();
  const replies = await Promise.all(Array.from({ length: 32 }, () => read(served, dir.path('j/f'))));
  expect(openDescriptors() - before).toBeLessThanOrEqual(32);
  await expect(read(served, dir.path('j/f'))).rejects.toMatchObject({
    code: 'S216',
    message: '32 files that were opened before are not read to their end yet',
  });
  expect(await served.call('shell::fs::stat', { path: dir.path('j/f') })).toMatchObject({ size: 16 * MiB });

  expect((await drain(served, replies[0]!.content)).bytes.length).toBe(16 * MiB);
  const peer = await served.connect('peer');
  (await peer.openReader(replies[1]!.content)).cancel();
  await expect.poll(() => openDescriptors() - before).toBeLessThanOrEqual(30);
  expect(await read(served, dir.path('j/f'))).toMatchObject({ size: 16 * MiB });

  await served.stop();
  await expect.poll(() => openDescriptors() - before).toBeLessThanOrEqual(0);
});

test('a stream out can be the stream in of another file', async () => {
  await using dir = await tempDir({ 'j/': '' });
  const content = randomBytes(2_000_000);
  writeFileSync(dir.path('j/f'), content);
  await using served = await serve(dir);
  const reply = await read(served, dir.path('j/f'));
  const copy = { path: dir.path('j/copy'), content: reply.content, mode: reply.mode };
  expect(await served.call('shell::fs::write', copy)).toMatchObject({ bytes_written: 2_000_000 });
  expect(readdirSync(dir.path('j'))).toEqual(['copy', 'f']);
  expect(statSync(dir.path('j/copy')).size).toBe(2_000_000);
});

function openDescriptors(): number {
  return readdirSync('/proc/self/fd').length;
}
