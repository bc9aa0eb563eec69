/** Bytes and messages through a channel, between any two kinds of peer. */
import { createHash, randomBytes } from 'node:crypto';

import { expect, test } from 'vitest';

import { connect } from '#client';
import { startEngine } from '#testing';
import { channelPeer, channelPeers } from './support/channel-peers.ts';
import { connectSdk, pairs, versions } from './support/clients.ts';
import { deferred, within } from './support/waiting.ts';

const MiB = 1024 * 1024;
const tenMiB = randomBytes(10 * MiB);

test.each(channelPeers.flatMap((writer) => channelPeers.map((reader) => [writer, reader] as const)))(
  'bus.P7 10 MiB written by %s arrive hash-equal at %s',
  async (writerKind, readerKind) => {
    await using engine = await startEngine();
    await using writer = await channelPeer(writerKind, engine);
    await using reader = await channelPeer(readerKind, engine);
    const channel = engine.engine.channels.create();

    const [read] = await Promise.all([reader.readAll(channel.reader), writer.write(channel.writer, tenMiB)]);

    expect({ bytes: read.length, sha256: sha256(read) }).toEqual({ bytes: 10 * MiB, sha256: sha256(tenMiB) });
  },
);

test.each(pairs)(
  'a %s client makes the channel and writes what a %s worker reads, both in one call',
  async (...pair) => {
    await using engine = await startEngine();
    await using maker = connectSdk(pair[0], engine.url);
    await using worker = connectSdk(pair[1], engine.url);
    worker.registerFunction('sink::hash', async ({ from }: { from: { readAll(): Promise<Buffer> } }) => ({
      sha256: sha256(await from.readAll()),
    }));
    await worker.settled();
    const { writer, readerRef } = await maker.createChannel(16);

    const answer = maker.trigger({ function_id: 'sink::hash', payload: { from: readerRef } });
    writer.stream.end(tenMiB);

    expect(await answer).toEqual({ sha256: sha256(tenMiB) });
  },
);

test.each(versions)('%s: references in a result stay plain references', async (version) => {
  await using engine = await startEngine();
  await using client = connectSdk(version, engine.url);
  client.registerFunction('give::refs', async () => {
    const { readerRef } = await client.createChannel();
    return { readerRef };
  });

  expect(await client.trigger({ function_id: 'give::refs', payload: {} })).toEqual({
    readerRef: { channel_id: expect.any(String), access_key: expect.any(String), direction: 'read' },
  });
});

test.each(pairs)('text messages keep their order and their boundaries, 3 MiB too (%s to %s)', async (...pair) => {
  await using engine = await startEngine();
  await using source = connectSdk(pair[0], engine.url);
  await using sink = connectSdk(pair[1], engine.url);
  const { writer, readerRef } = await source.createChannel();
  const messages = ['one', '', '{"type":"set_status"}', 'ä€😀', 'x'.repeat(3 * MiB), 'last'];
  sink.registerFunction('sink::messages', async ({ from }: { from: TextReader }) => {
    const heard: string[] = [];
    from.onMessage((text) => heard.push(text));
    const bytes = await from.readAll();
    return { heard, bytes: bytes.toString() };
  });
  await sink.settled();

  const answer = source.trigger({ function_id: 'sink::messages', payload: { from: readerRef } });
  for (const message of messages) writer.sendMessage(message);
  writer.stream.end(Buffer.from('and bytes'));

  expect(await answer).toEqual({ heard: messages, bytes: 'and bytes' });
});

test('our client reads text as text and bytes as bytes, in the order they were written', async () => {
  await using engine = await startEngine();
  await using source = connectSdk('0.22.1', engine.url);
  const connection = await connect(engine.url);
  const { writer, readerRef } = await source.createChannel();
  const reader = await connection.openReader(readerRef);
  const items: unknown[] = [];
  const reading = (async () => {
    for await (const item of reader) items.push(typeof item === 'string' ? item : Buffer.from(item).toString('hex'));
  })();

  writer.sendMessage('head');
  writer.stream.write(Buffer.from([1, 2]));
  writer.stream.write(Buffer.from([3]), () => {
    writer.sendMessage('tail');
    writer.stream.end();
  });
  await within(reading, 'the end of the stream');

  expect(items).toEqual(['head', '0102', '03', 'tail']);
  connection.close();
});

test.each(channelPeers)('%s reads an empty stream to its end', async (kind) => {
  await using engine = await startEngine();
  await using peer = await channelPeer(kind, engine);
  const connection = await connect(engine.url);
  const channel = engine.engine.channels.create();

  const reading = peer.readAll(channel.reader);
  const writer = await connection.openWriter(channel.writer);
  await writer.end();

  expect(await within(reading, 'the end of the stream')).toEqual(Buffer.alloc(0));
  connection.close();
});

test.each(versions)('%s: a channel outlives the client that made it', async (version) => {
  await using engine = await startEngine();
  await using other = connectSdk(version, engine.url);
  const maker = connectSdk(version, engine.url);
  const { writerRef, readerRef } = await maker.createChannel();
  await maker.shutdown();
  const done = deferred<string>();
  other.registerFunction('use::both', async ({ to, from }: { to: TextWriter; from: TextReader }) => {
    to.stream.end(Buffer.from('still here'));
    done.resolve((await from.readAll()).toString());
  });

  await other.trigger({ function_id: 'use::both', payload: { to: writerRef, from: readerRef } });

  expect(await within(done.promise, 'the text')).toBe('still here');
});

interface TextReader {
  onMessage(callback: (text: string) => void): void;
  readAll(): Promise<Buffer>;
}

interface TextWriter {
  stream: { end(bytes: Buffer): void };
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
