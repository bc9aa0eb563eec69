/** Ends of a channel: each can be taken once, and the other end is notified when it disconnects. */
import { finished } from 'node:stream/promises';

import { expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket } from 'ws';

import { connect } from '#client';
import { channelPath, type ChannelRef } from '#protocol';
import { startEngine, type TestEngine } from '#testing';
import { channelPeer, channelPeers, stalled, watchChannel } from './support/channel-peers.ts';
import { connectSdk, versions } from './support/clients.ts';
import { within } from './support/waiting.ts';

test.each(versions)('%s: a second reader ends empty, and the first one reads on', async (version) => {
  await using engine = await startEngine();
  await using client = connectSdk(version, engine.url);
  const { writer, reader, readerRef } = await client.createChannel();
  await using second = await channelPeer(version, engine);
  writer.stream.on('error', () => {});
  writer.stream.write('first half, ');
  const iterator = reader.stream[Symbol.asyncIterator]();
  expect(String((await iterator.next()).value)).toBe('first half, ');

  expect(await within(second.readAll(readerRef), 'the end for the second reader')).toEqual(Buffer.alloc(0));

  writer.stream.end('second half');
  const next = within(iterator.next(), 'the second half');
  expect(await next).toEqual({ done: false, value: Buffer.from('second half') });
});

test('a second writer is closed, and the first one writes on', async () => {
  await using engine = await startEngine();
  const channel = engine.engine.channels.create();
  await using reader = await channelPeer('0.22.1', engine);
  const first = await openEnd(engine, channel.writer);
  const second = await openEnd(engine, channel.writer);

  expect(await closeCode(second)).toBe(1008);
  first.send(Buffer.from('mine'));
  first.close(1000);

  expect(String(await within(reader.readAll(channel.reader), 'the stream'))).toBe('mine');
});

test('a refused end that breaks the protocol does not harm the engine', async () => {
  const crash = vi.fn();
  process.on('uncaughtException', crash);
  onTestFinished(() => void process.off('uncaughtException', crash));
  await using engine = await startEngine({ limits: { maxMessageBytes: 1024, maxFrameBytes: 1024 } });
  const channel = engine.engine.channels.create();
  const first = await openEnd(engine, channel.writer);
  const second = new WebSocket(engine.url + channelPath(channel.writer));
  second.on('error', () => {});
  second.on('open', () => second.send(Buffer.alloc(4096)));
  await closeCode(second);

  await using client = connectSdk('0.22.1', engine.url);
  await client.settled();
  expect(crash).not.toHaveBeenCalled();
  first.terminate();
});

const wrongs: [string, number, (ref: ChannelRef) => string][] = [
  ['a wrong key', 404, (ref) => channelPath({ ...ref, access_key: crypto.randomUUID() })],
  ['an unknown id', 404, (ref) => channelPath({ ...ref, channel_id: crypto.randomUUID() })],
  ['no key', 400, ({ channel_id }) => `/ws/channels/${channel_id}?dir=read`],
  ['no direction', 400, ({ channel_id, access_key }) => `/ws/channels/${channel_id}?key=${access_key}`],
  ['another direction', 400, ({ channel_id, access_key }) => `/ws/channels/${channel_id}?key=${access_key}&dir=both`],
];

test.each(wrongs)('a socket with %s is refused with HTTP %i', async (_what, status, pathOf) => {
  await using engine = await startEngine();
  const { reader } = engine.engine.channels.create();

  expect(await refusalOf(engine.url + pathOf(reader))).toBe(status);
});

test.each(versions)('%s: a reader with a wrong key fails with the status', async (version) => {
  await using engine = await startEngine();
  await using peer = await channelPeer(version, engine);
  const { reader } = engine.engine.channels.create();

  await expect(peer.readAll({ ...reader, access_key: 'guessed' })).rejects.toMatchObject({
    message: 'invocation_failed: Unexpected server response: 404',
  });
});

test.each(versions)('%s: a writer hears that its reader is gone', async (version) => {
  await using engine = await startEngine();
  await using client = connectSdk(version, engine.url);
  const { writer, reader } = await client.createChannel();
  const ended = finished(writer.stream).catch(() => {});
  writer.stream.write('hello');
  const iterator = reader.stream[Symbol.asyncIterator]();
  await iterator.next();

  reader.stream.destroy();

  await within(ended, 'the end of the writer');
  expect(writer.stream.destroyed).toBe(true);
});

test.each(versions)('%s: a writer that is held back hears at once that its reader is gone', async (version) => {
  await using engine = await startEngine();
  await using client = connectSdk(version, engine.url);
  const { writer, writerRef, readerRef } = await client.createChannel();
  const watched = watchChannel(engine, writerRef);
  const ended = finished(writer.stream).catch(() => {});
  const reader = await openEnd(engine, readerRef);
  reader.pause();
  writer.stream.write(Buffer.alloc(64 * 1024 * 1024));
  await stalled(watched, client);

  reader.terminate();

  await within(ended, 'the end of the writer');
});

test.each(versions)(
  '%s: a reader whose writer broke off gets a message, and its socket has no close frame',
  async (version) => {
    await using engine = await startEngine();
    await using client = connectSdk(version, engine.url);
    const { reader, writerRef } = await client.createChannel();
    const messages: string[] = [];
    reader.onMessage((text) => messages.push(text));
    const writer = await openEnd(engine, writerRef);
    writer.send(Buffer.from('half'));
    writer.close(1011);

    expect(String(await within(reader.readAll(), 'the stream'))).toBe('half');
    expect(messages.map((text) => JSON.parse(text) as unknown)).toEqual([
      { error: 'the writer of this channel broke off (its connection ended with code 1011)' },
    ]);

    const channel = engine.engine.channels.create();
    const [plainReader, broken] = [await openEnd(engine, channel.reader), await openEnd(engine, channel.writer)];
    broken.terminate();
    expect(await closeCode(plainReader)).toBe(1006);
  },
);

test.each(['our client', 'in process'] as const)('bus.P21 %s: reading a stream that broke off fails', async (kind) => {
  await using engine = await startEngine();
  await using peer = await channelPeer(kind, engine);
  const channel = engine.engine.channels.create();
  const writer = await openEnd(engine, channel.writer);
  writer.send(Buffer.from('half'));
  writer.terminate();

  await expect(within(peer.readAll(channel.reader), 'the failure')).rejects.toThrow(/broke off/);
});

test.each(channelPeers)('%s, writing after the reader came and went, gets an error', async (kind) => {
  await using engine = await startEngine();
  await using peer = await channelPeer(kind, engine);
  const channel = engine.engine.channels.create();
  const reader = await openEnd(engine, channel.reader);
  reader.terminate();
  await closeCode(reader);
  const probe = connectSdk('0.22.1', engine.url);
  await probe.settled();
  await probe.shutdown();

  const writing = peer.write(channel.writer, Buffer.alloc(32 * 1024 * 1024));

  await expect(within(writing, 'the word')).rejects.toThrow(/gone|closed|not open|premature close/i);
});

test('our client stops reading early, and the writer of the other side hears it', async () => {
  await using engine = await startEngine();
  await using client = connectSdk('0.22.1', engine.url);
  const connection = await connect(engine.url);
  const { writer, readerRef } = await client.createChannel();
  const ended = finished(writer.stream).catch(() => {});
  writer.stream.write('one');

  for await (const item of await connection.openReader(readerRef)) {
    expect(String(item)).toBe('one');
    break;
  }

  await within(ended, 'the end of the writer');
  connection.close();
});

test.each(['reader', 'writer'] as const)('a ping of a waiting %s is answered', async (end) => {
  await using engine = await startEngine();
  const socket = await openEnd(engine, engine.engine.channels.create()[end]);
  const pong = new Promise((heard) => socket.once('pong', heard));

  socket.ping('are you there');

  expect(String(await within(pong, 'the pong'))).toBe('are you there');
  socket.terminate();
});

async function openEnd({ url }: TestEngine, ref: ChannelRef): Promise<WebSocket> {
  const socket = new WebSocket(url + channelPath(ref));
  socket.on('error', () => {});
  await within(new Promise((open) => socket.once('open', open)), 'an open channel socket');
  return socket;
}

function closeCode(socket: WebSocket): Promise<number> {
  return within(new Promise((closed) => socket.once('close', closed)), 'the end of the socket');
}

function refusalOf(url: string): Promise<number | undefined> {
  const socket = new WebSocket(url);
  const refused = new Promise<number | undefined>((answer, reject) => {
    socket.once('open', () => reject(new Error('it was accepted')));
    socket.once('unexpected-response', (request, response) => {
      answer(response.statusCode);
      request.destroy();
    });
    socket.on('error', () => {});
  });
  return within(refused, 'the refusal');
}
