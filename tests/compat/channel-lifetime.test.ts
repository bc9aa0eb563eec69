/** Channels whose other end never connects: they end instead of hanging. */
import { finished } from 'node:stream/promises';

import { expect, test } from 'vitest';

import { startEngine } from '#testing';
import { channelPeer, channelPeers } from './support/channel-peers.ts';
import { connectSdk, versions } from './support/clients.ts';
import { within } from './support/waiting.ts';

/** Long enough to take both ends on a busy machine. */
const short = { channelTtlMs: 5_000 };

test.concurrent.each(channelPeers)(
  'bus.P8 %s, waiting for a writer that never comes, does not wait on',
  async (kind) => {
    await using engine = await startEngine({ limits: short });
    await using peer = await channelPeer(kind, engine);
    const channel = engine.engine.channels.create();
    const reading = within(peer.readAll(channel.reader), 'the end of the stream');

    // The published SDKs do not distinguish an end from a break.
    if (kind === 'our client' || kind === 'in process')
      await expect(reading).rejects.toThrow(/no writer connected|broke off/);
    else expect(await reading).toEqual(Buffer.alloc(0));
    expect(engine.engine.channels.count).toBe(0);
  },
);

test.concurrent.each(versions)(
  '%s: a stream ended before its first write opens no socket; its reader ends with the channel',
  async (version) => {
    await using engine = await startEngine({ limits: short });
    await using client = connectSdk(version, engine.url);
    const { writer, reader } = await client.createChannel();

    writer.stream.end();

    expect(await within(reader.readAll(), 'the end of the stream')).toEqual(Buffer.alloc(0));
  },
);

test.concurrent.each(versions)(
  'bus.P8 %s: a writer waiting for a reader that never comes is cut off',
  async (version) => {
    await using engine = await startEngine({ limits: short });
    await using client = connectSdk(version, engine.url);
    const { writer } = await client.createChannel();

    writer.stream.write(Buffer.alloc(32 * 1024 * 1024));

    await within(
      finished(writer.stream).catch(() => {}),
      'the end of the writer',
    );
    expect(engine.engine.channels.count).toBe(0);
  },
);

// With `expect` of the test: a poll belongs to a test, and the imported one to that which began last.
test.concurrent.for(versions)(
  '%s: a channel with both ends taken lives on past the limit',
  async (version, { expect }) => {
    await using engine = await startEngine({ limits: short });
    await using client = connectSdk(version, engine.url);
    const { writer, reader } = await client.createChannel();
    const reading = reader.readAll();
    writer.stream.write('before, ');

    // Younger and never used: when the sweep has taken it, it has passed over ours.
    const unused = engine.engine.channels.create().reader;
    await expect.poll(() => engine.engine.channels.find(unused)).toBeUndefined();
    writer.stream.end('after');

    expect(String(await within(reading, 'the stream'))).toBe('before, after');
  },
);

test('a channel is forgotten once both ends are done', async () => {
  await using engine = await startEngine();
  await using peer = await channelPeer('0.22.1', engine);
  const channel = engine.engine.channels.create();

  await Promise.all([peer.readAll(channel.reader), peer.write(channel.writer, Buffer.from('x'))]);

  await expect.poll(() => engine.engine.channels.count).toBe(0);
});
