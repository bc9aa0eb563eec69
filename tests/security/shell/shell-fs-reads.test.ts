/** Files that callers open and never read take a slot each, which is released. */
import { expect, test } from 'vitest';

import { connect } from '#client';
import { silentLog } from '#contract';
import { Engine } from '#engine';
import { OpenReads } from '#file-functions';
import { HostError, type OpenFile } from '#host';

/** A file of so many megabytes that reports when it is closed. */
function fileOf(megabytes: number, failure?: HostError): OpenFile & { isClosed: boolean } {
  async function* bytes(): AsyncGenerator<Uint8Array> {
    for (let i = 0; i < megabytes; i++) yield Buffer.alloc(2 ** 20, i);
    if (failure) throw failure;
  }
  const file = { sizeBytes: megabytes * 2 ** 20, mode: 0o644, mtimeSecs: 0, bytes: bytes(), isClosed: false };
  return Object.assign(file, { close: () => void (file.isClosed = true) });
}

async function setUp() {
  const engine = new Engine({ log: silentLog });
  const bus = await connect(engine.dialer(), { name: 'worker' });
  return { engine, bus, [Symbol.dispose]: () => engine.close() };
}

test('shell.P13 shell.F69 a file without a reader is closed, and its slot is released', async () => {
  using own = await setUp();
  const reads = new OpenReads({ maxOpen: 1, stalledMs: 1_000 });
  const file = fileOf(64);
  await reads.send(file, own.bus);
  await expect(reads.send(fileOf(1), own.bus)).rejects.toMatchObject({ reason: 'busy' });
  await expect.poll(() => [file.isClosed, reads.count]).toEqual([true, 0]);
  await reads.send(fileOf(1), own.bus);
});

test.each([0, 1])('one of %d MiB, which is sent at once, keeps its slot until it is read', async (megabytes) => {
  using own = await setUp();
  const reads = new OpenReads();
  const refs = await Promise.all(Array.from({ length: 32 }, () => reads.send(fileOf(megabytes), own.bus)));
  await new Promise(setImmediate);
  for (let attempt = 0; attempt < 100; attempt++) {
    await expect(reads.send(fileOf(megabytes), own.bus)).rejects.toMatchObject({ reason: 'busy' });
  }
  expect(own.engine.channels.count).toBe(32);

  const [taken, left] = [await own.bus.openReader(refs[0]!), await own.bus.openReader(refs[1]!)];
  let bytes = 0;
  for await (const item of taken) bytes += item.length;
  left.cancel();
  expect(bytes).toBe(megabytes * 2 ** 20);
  await expect.poll(() => [reads.count, own.engine.channels.count]).toEqual([30, 30]);
});

test('one that is refused is closed', async () => {
  using own = await setUp();
  const reads = new OpenReads({ maxOpen: 0 });
  const file = fileOf(1);
  await expect(reads.send(file, own.bus)).rejects.toMatchObject({ reason: 'busy' });
  expect(file.isClosed).toBe(true);
});

test('without a channel the file is closed and its slot is released', async () => {
  const reads = new OpenReads();
  const file = fileOf(1);
  const none = () => Promise.reject(new Error('no channels left'));
  const sending = reads.send(file, { call: none, createChannel: none, openReader: none, openWriter: none });
  await expect(sending).rejects.toMatchObject({
    reason: 'stream',
    message: 'no channel to send the file through: no channels left',
  });
  expect([file.isClosed, reads.count]).toEqual([true, 0]);
});

test('a read error is sent as text before the stream breaks off', async () => {
  using own = await setUp();
  const reads = new OpenReads();
  const file = fileOf(1, new HostError('io', '/f'));
  const ref = await reads.send(file, own.bus);
  const texts: string[] = [];
  let count = 0;
  const reading = async () => {
    for await (const item of await own.bus.openReader(ref)) {
      if (typeof item === 'string') texts.push(item);
      else count += item.length;
    }
  };
  await expect(reading()).rejects.toThrow('the writer of this channel broke off');
  expect([count, texts]).toEqual([2 ** 20, ['{"error":"/f failed in a system call"}']]);
  await expect.poll(() => [file.isClosed, reads.count]).toEqual([true, 0]);
});

test('all end with the worker', async () => {
  using own = await setUp();
  const reads = new OpenReads();
  const files = [fileOf(64), fileOf(64)];
  for (const file of files) await reads.send(file, own.bus);
  reads.close();
  await expect.poll(() => [files.map(({ isClosed }) => isClosed), reads.count]).toEqual([[true, true], 0]);
});
