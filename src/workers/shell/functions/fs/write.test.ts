import { randomBytes } from 'node:crypto';
import { chmodSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import { run, serveWorker, tempDir, type ServedWorker, type TempDir } from '#testing';
import { shell } from '../../index.ts';
import { write } from './write.ts';

const config = (dir: TempDir, more: object = {}) => ({ fs: { host_root: dir.path('j'), ...more } });
const inline = (dir: TempDir, path: string, content: unknown, more: object = {}) =>
  run(write, { path: dir.path(path), content, ...more }, config(dir));
const namesIn = (dir: TempDir) => readdirSync(dir.path('j'), { recursive: true }).map(String).sort();
const modeOf = (dir: TempDir, name: string) => (statSync(dir.path(name)).mode & 0o7777).toString(8);
const textOf = (dir: TempDir, name: string) => readFileSync(dir.path(name), 'utf8');

/** Writes a file through a channel that gets these items and is then ended. */
async function stream(served: ServedWorker, request: object, items: (string | Uint8Array)[]): Promise<unknown> {
  const peer = await served.connect('peer');
  const { reader, writer } = await peer.createChannel();
  const { direction: _, ...content } = reader;
  const calling = served.call('shell::fs::write', { content, ...request });
  const end = await peer.openWriter(writer);
  const sending = (async () => {
    for (const item of items) await end.write(item);
    await end.end();
  })();
  const [outcome] = await Promise.allSettled([calling, sending]);
  if (outcome.status === 'rejected') throw outcome.reason;
  return outcome.value;
}

describe('from the request', () => {
  test('shell.F65 a text is written as UTF-8', async () => {
    await using dir = await tempDir({ 'j/': '' });
    const path = dir.path('j/f');
    expect(await inline(dir, 'j/f', 'é\r\n')).toEqual({ bytes_written: 4, path });
    expect([textOf(dir, 'j/f'), modeOf(dir, 'j/f'), namesIn(dir)]).toEqual(['é\r\n', '644', ['f']]);
    expect(await inline(dir, 'j/f', '')).toEqual({ bytes_written: 0, path });
  });

  test('shell.F60 missing directories are made only when asked', async () => {
    await using dir = await tempDir({ 'j/': '' });
    await expect(inline(dir, 'j/a/b/f', 'x')).rejects.toMatchObject({ code: 'S211' });
    expect(namesIn(dir)).toEqual([]);
    expect(await inline(dir, 'j/a/b/f', 'x', { parents: true })).toMatchObject({ bytes_written: 1 });
    expect(namesIn(dir)).toEqual(['a', 'a/b', 'a/b/f']);
  });

  test('a mode is set whatever the umask; without one a file keeps its own', async () => {
    await using dir = await tempDir({ 'j/run.sh': { content: 'old', mode: 0o755 } });
    const umask = process.umask(0o077);
    try {
      await inline(dir, 'j/new', 'x', { mode: '0666' });
      await inline(dir, 'j/default', 'x');
      await inline(dir, 'j/run.sh', 'new');
    } finally {
      process.umask(umask);
    }
    expect(['j/new', 'j/default', 'j/run.sh'].map((name) => modeOf(dir, name))).toEqual(['666', '644', '755']);
    await inline(dir, 'j/run.sh', 'new', { mode: '0600' });
    expect(modeOf(dir, 'j/run.sh')).toBe('600');
    await expect(inline(dir, 'j/run.sh', 'newer', { mode: '4755' })).rejects.toMatchObject({ code: 'S210' });
    expect(textOf(dir, 'j/run.sh')).toBe('new');
  });

  test('a link is followed and stays', async () => {
    await using dir = await tempDir({ 'j/d/f': 'old', 'j/link': { symlink: 'd/f' } });
    await inline(dir, 'j/link', 'new');
    expect([textOf(dir, 'j/d/f'), readlinkSync(dir.path('j/link'))]).toEqual(['new', 'd/f']);
  });

  test.each([
    ['a directory', 'j/d', 'S216'],
    ['the root', 'j', 'S216'],
    ['below a file', 'j/f/x', 'S216'],
    ['a pipe', 'j/pipe', 'S212'],
  ])('%s is not written to', async (_, path, code) => {
    await using dir = await tempDir({ 'j/d/': '', 'j/f': '', 'j/pipe': { fifo: true } });
    await expect(inline(dir, path, 'x')).rejects.toMatchObject({ code });
    expect(namesIn(dir)).toEqual(['d', 'f', 'pipe']);
  });

  test('more than may be written is refused', async () => {
    await using dir = await tempDir({ 'j/f': 'old' });
    const put = (content: string) =>
      run(write, { path: dir.path('j/f'), content }, config(dir, { max_write_bytes: 4 }));
    await expect(put('éé!')).rejects.toMatchObject({ code: 'S218', message: 'the content is larger than 4 bytes' });
    expect([textOf(dir, 'j/f'), namesIn(dir)]).toEqual(['old', ['f']]);
    expect(await put('éé')).toMatchObject({ bytes_written: 4 });
  });

  test.each([7, null, {}, { channel_id: 'x' }])('content %j is refused', async (content) => {
    await using dir = await tempDir({ 'j/': '' });
    await expect(inline(dir, 'j/f', content)).rejects.toMatchObject({
      code: 'S210',
      message: expect.stringMatching(/^bad write payload: /),
    });
  });
});

describe('through a channel', () => {
  test('bytes arrive as they were sent, and text in between is not part of them', async () => {
    await using dir = await tempDir({ 'j/f': 'old' });
    await using served = await serveWorker(shell, config(dir));
    const bytes = randomBytes(3_000_000);
    const request = { path: dir.path('j/f'), mode: '0600' };
    const items = ['hello', bytes.subarray(0, 1_000_000), '{"progress": 1}', bytes.subarray(1_000_000)];
    expect(await stream(served, request, items)).toEqual({ bytes_written: 3_000_000, path: dir.path('j/f') });
    expect(readFileSync(dir.path('j/f')).equals(bytes)).toBe(true);
    expect([modeOf(dir, 'j/f'), namesIn(dir)]).toEqual(['600', ['f']]);
  });

  test('shell.F62 text alone makes an empty file', async () => {
    await using dir = await tempDir({ 'j/': '' });
    await using served = await serveWorker(shell, config(dir));
    expect(await stream(served, { path: dir.path('j/f') }, ['a', 'b'])).toMatchObject({ bytes_written: 0 });
    expect(textOf(dir, 'j/f')).toBe('');
  });

  test('shell.P12 shell.F59 more than may be written is refused, and the old file stands', async () => {
    await using dir = await tempDir({ 'j/f': 'old' });
    await using served = await serveWorker(shell, config(dir, { max_write_bytes: 10 }));
    for (const path of ['j/f', 'j/new']) {
      const streaming = stream(served, { path: dir.path(path) }, [Buffer.alloc(8), Buffer.alloc(12)]);
      await expect(streaming).rejects.toMatchObject({ code: 'S218' });
    }
    expect([textOf(dir, 'j/f'), namesIn(dir)]).toEqual(['old', ['f']]);
    expect(await stream(served, { path: dir.path('j/f') }, [Buffer.alloc(10)])).toMatchObject({ bytes_written: 10 });
  });

  test('shell.P12 shell.F63 a channel that brings nothing fails the write, and nothing is left', async () => {
    await using dir = await tempDir({ 'j/f': 'old' });
    const impatient: typeof shell = {
      ...shell,
      async open(parsed, log) {
        const context = await shell.open(parsed, log);
        expect(context.files.idleMs).toBe(30_000);
        return { ...context, files: { ...context.files, idleMs: 50 } };
      },
    };
    await using served = await serveWorker(impatient, config(dir));
    const peer = await served.connect('peer');
    const silent = await peer.createChannel();
    const stuck = await peer.createChannel();
    const end = await peer.openWriter(stuck.writer);
    await end.write(Buffer.from('half'));
    for (const { reader } of [silent, stuck]) {
      const writing = served.call('shell::fs::write', { path: dir.path('j/f'), content: reader });
      await expect(writing).rejects.toMatchObject({
        code: 'S216',
        message: 'no bytes came through the channel for 0.05 s',
      });
    }
    expect([textOf(dir, 'j/f'), namesIn(dir)]).toEqual(['old', ['f']]);
    await expect(end.write(Buffer.from('more'))).rejects.toThrow('gone');
  });

  test('shell.P12 a sender that reports an error fails the write', async () => {
    await using dir = await tempDir({ 'j/f': 'old' });
    await using served = await serveWorker(shell, config(dir));
    const streaming = stream(served, { path: dir.path('j/f') }, [Buffer.from('half'), '{"error":"disk on fire"}']);
    await expect(streaming).rejects.toMatchObject({
      code: 'S216',
      message: 'the sender broke off: disk on fire',
    });
    expect([textOf(dir, 'j/f'), namesIn(dir)]).toEqual(['old', ['f']]);
  });

  test('a channel that is not there, was read before or is the wrong end', async () => {
    await using dir = await tempDir({ 'j/': '' });
    await using served = await serveWorker(shell, config(dir));
    const peer = await served.connect('peer');
    const { reader, writer } = await peer.createChannel();
    const put = (content: object) => served.call('shell::fs::write', { path: dir.path('j/f'), content });
    await expect(put({ ...reader, channel_id: 'x' })).rejects.toMatchObject({ code: 'S216' });
    await expect(put({ ...reader, access_key: 'x' })).rejects.toMatchObject({ code: 'S216' });
    await expect(put(writer)).rejects.toMatchObject({ code: 'S210' });
    await peer.openReader(reader);
    await expect(put(reader)).rejects.toMatchObject({ code: 'S216' });
    expect(namesIn(dir)).toEqual([]);
  });

  test('a slow stream keeps no call from the file, and takes its place at the end', async () => {
    await using dir = await tempDir({ 'j/f': 'old' });
    await using served = await serveWorker(shell, config(dir));
    const peer = await served.connect('peer');
    const { reader, writer } = await peer.createChannel();
    const slow = served.call('shell::fs::write', { path: dir.path('j/f'), content: reader });
    const end = await peer.openWriter(writer);
    await end.write(Buffer.from('slow '));
    await served.call('shell::fs::write', { path: dir.path('j/f'), content: 'quick' });
    expect(textOf(dir, 'j/f')).toBe('quick');
    chmodSync(dir.path('j/f'), 0o600);
    await end.write(Buffer.from('but whole'));
    await end.end();
    expect(await slow).toMatchObject({ bytes_written: 14 });
    expect([textOf(dir, 'j/f'), modeOf(dir, 'j/f')]).toEqual(['slow but whole', '600']);
  });
});
