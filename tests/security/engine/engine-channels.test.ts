/** Channels whose ends are slow, gone or not the right peer. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';

import { expect, test } from 'vitest';
import { WebSocket } from 'ws';

import { connect, type Connection } from '#client';
import { channelPath, type ChannelReader, type ChannelWriter } from '#protocol';
import { startEngine } from '#testing';
import { upgrade } from './peer-http.ts';

const CHUNK = 64 * 1024;
const CHUNKS = 400;

async function openBoth(bus: Connection): Promise<{ writer: ChannelWriter; reader: ChannelReader }> {
  const pair = await bus.createChannel(1);
  return { writer: await bus.openWriter(pair.writer), reader: await bus.openReader(pair.reader) };
}

/** Writes more than all buffers between the ends can hold, and returns its hash. */
async function writeMuch(writer: ChannelWriter, progress = { chunks: 0 }): Promise<string> {
  const hash = createHash('sha256');
  for (let n = 0; n < CHUNKS; n++) {
    const chunk = Buffer.alloc(CHUNK, n);
    hash.update(chunk);
    await writer.write(chunk);
    progress.chunks++;
  }
  await writer.end();
  return hash.digest('hex');
}

/** Reads to the end, waiting once after the first item. */
async function readAll(reader: ChannelReader, afterFirst: Promise<unknown> = Promise.resolve()): Promise<string> {
  const hash = createHash('sha256');
  for await (const item of reader) {
    hash.update(item);
    await afterFirst;
  }
  return hash.digest('hex');
}

/** Resolves after the engine has checked for silent peers often enough to end one: it ended this one. */
async function silenceNoticed(url: string): Promise<void> {
  const silent = new WebSocket(url, { autoPong: false });
  await once(silent, 'close', { signal: AbortSignal.timeout(30_000) });
}

const impatient = { pingIntervalMs: 20, idleMs: 100 };

test('a writer that waits for its reader is not taken for dead', async () => {
  await using engine = await startEngine({ limits: impatient });
  const bus = await connect(engine.url);
  const pair = await bus.createChannel(1);
  const writing = writeMuch(await bus.openWriter(pair.writer));

  await silenceNoticed(engine.url);
  await silenceNoticed(engine.url);
  const [written, read] = await Promise.all([writing, readAll(await bus.openReader(pair.reader))]);
  expect(read).toBe(written);
  bus.close();
});

test('a reader that takes its time is not taken for dead', async () => {
  await using engine = await startEngine({ limits: impatient });
  const bus = await connect(engine.url);
  const { writer, reader } = await openBoth(bus);

  const pause = silenceNoticed(engine.url).then(() => silenceNoticed(engine.url));
  const [written, read] = await Promise.all([writeMuch(writer), readAll(reader, pause)]);
  expect(read).toBe(written);
  bus.close();
});

test('a writer that is held back hears at once that its reader left', async () => {
  await using engine = await startEngine();
  const bus = await connect(engine.url);
  const { writer, reader } = await openBoth(bus);

  const progress = { chunks: 0 };
  const writing = writeMuch(writer, progress);
  for (let before = -1; before < progress.chunks;) {
    before = progress.chunks;
    for (let n = 0; n < 50; n++) await bus.call('engine::workers::list');
  }
  expect(progress.chunks).toBeLessThan(CHUNKS);
  reader.cancel();
  await expect(withDeadline(writing)).rejects.toThrow(/closed|not open/i);
  bus.close();
});

test('a writer that comes after its reader left gets an error', async () => {
  await using engine = await startEngine();
  const bus = await connect(engine.url);
  const pair = await bus.createChannel(1);
  (await bus.openReader(pair.reader)).cancel();
  await expect.poll(() => engine.engine.channels.find(pair.reader)?.hasFreeEnd).toBe(true);

  const writer = await bus.openWriter(pair.writer);
  const writing = (async () => {
    for (;;) await writer.write('never read');
  })();
  await expect(withDeadline(writing)).rejects.toThrow(/closed|not open/i);
  await expect.poll(() => engine.engine.channels.count).toBe(0);
  bus.close();
});

test('each end can be taken once; a second peer finds it closed', async () => {
  await using engine = await startEngine();
  const bus = await connect(engine.url);
  const pair = await bus.createChannel();
  const writer = await bus.openWriter(pair.writer);
  const reader = await bus.openReader(pair.reader);

  const second = await bus.openReader(pair.reader);
  await expect(withDeadline(second[Symbol.asyncIterator]().next())).rejects.toThrow('taken before');
  const late = await bus.openWriter(pair.writer);
  await expect(withDeadline(writeMuch(late))).rejects.toThrow(/closed|not open/i);

  await writer.write('for the first');
  await writer.end();
  const first = [];
  for await (const item of reader) first.push(item);
  expect(first).toEqual(['for the first']);
  bus.close();
});

test('a second taker that misbehaves ends its own connection only', async () => {
  await using engine = await startEngine();
  const bus = await connect(engine.url);
  const { writer, reader } = await bus.createChannel();
  await bus.openWriter(writer);
  await bus.openReader(reader);

  for (const ref of [writer, reader]) {
    // Sent with the request, so that it is there before the engine's close is.
    const { status } = await upgrade(engine.url + channelPath(ref), {}, '\xff\xff\xff\xff');
    expect(status).toBe(101);
  }
  await bus.call('engine::workers::list');
  bus.close();
});

test('an end needs its own id and key, and no refusal reveals which was wrong', async () => {
  await using engine = await startEngine();
  const bus = await connect(engine.url);
  const [one, two] = [(await bus.createChannel()).reader, (await bus.createChannel()).reader];
  const ask = (id: string, query: string) => upgrade(`${engine.url}/ws/channels/${id}?${query}`);

  const refusals = await Promise.all([
    ask(one.channel_id, `key=${two.access_key}&dir=read`),
    ask(one.channel_id, `key=${one.access_key.slice(0, -1)}&dir=read`),
    ask(one.channel_id, `key=${one.access_key}0&dir=read`),
    ask(one.channel_id, `key=${one.access_key.toUpperCase()}&dir=read`),
    ask(one.channel_id, `key=${one.channel_id}&dir=read`),
    ask(one.channel_id, 'key=&dir=read'),
    ask('00000000-0000-4000-8000-000000000000', `key=${one.access_key}&dir=read`),
    ask('__proto__', `key=${one.access_key}&dir=read`),
  ]);
  expect(refusals.map(({ status, body }) => [status, body])).toEqual(refusals.map(() => [404, 'Channel not found\n']));

  const malformed = await Promise.all([
    ask(one.channel_id, ''),
    ask(one.channel_id, `key=${one.access_key}`),
    ask(one.channel_id, `key=${one.access_key}&dir=both`),
    ask(one.channel_id, 'dir=read'),
  ]);
  expect(malformed.map(({ status }) => status)).toEqual([400, 400, 400, 400]);
  expect((await ask(one.channel_id, `key=${one.access_key}&dir=read`)).status).toBe(101);
  bus.close();
});

test('ids and keys are random, all of them', async () => {
  await using engine = await startEngine();
  const bus = await connect(engine.url);
  const pairs = await Promise.all(Array.from({ length: 100 }, () => bus.createChannel()));

  const secrets = pairs.flatMap(({ reader }) => [reader.channel_id, reader.access_key]);
  expect(new Set(secrets).size).toBe(200);
  for (const secret of secrets)
    expect(secret).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  bus.close();
});

function withDeadline<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('nothing within 30 s')), 30_000);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
