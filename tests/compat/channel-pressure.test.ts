/** Back-pressure: the writer waits at the cap, whichever peer reads, whenever it reads. */
import { createHash, randomBytes } from 'node:crypto';
import { finished } from 'node:stream/promises';

import { expect, test, vi } from 'vitest';

import { startEngine } from '#testing';
import { channelPeer, channelPeers, stalled, watchChannel } from './support/channel-peers.ts';
import { connectSdk, versions } from './support/clients.ts';
import { within } from './support/waiting.ts';

const MiB = 1024 * 1024;
const FRAME = 65_536;
const CAP = 64;

test.each(versions)(
  'bus.P7 %s: without a reader a 40 MiB write stalls at 64 frames, and completes once one attaches',
  async (version) => {
    await using engine = await startEngine();
    await using client = connectSdk(version, engine.url);
    await using reader = await channelPeer('our client', engine);
    const { writer, writerRef, readerRef } = await client.createChannel();
    const watched = watchChannel(engine, writerRef);
    const bytes = randomBytes(40 * MiB);
    const written = vi.fn();

    writer.stream.write(bytes, written);
    await stalled(watched, client);
    expect(watched.accepted).toBeGreaterThanOrEqual(CAP * FRAME);
    expect(watched.accepted).toBeLessThanOrEqual((CAP + 2) * FRAME);
    expect(written).not.toHaveBeenCalled();

    const reading = reader.readAll(readerRef);
    writer.stream.end();
    expect(sha256(await within(reading, 'the whole stream'))).toBe(sha256(bytes));
    expect(written).toHaveBeenCalledOnce();
  },
);

test('a buffer_size is counted in messages: at 4 the fifth waits', async () => {
  await using engine = await startEngine();
  await using client = connectSdk('0.22.1', engine.url);
  const { writer, writerRef } = await client.createChannel(4);
  const watched = watchChannel(engine, writerRef);

  for (let n = 0; n < 200; n += 1) writer.sendMessage(`${n}`.padEnd(FRAME));
  await stalled(watched, client);

  expect(watched.items).toBeGreaterThanOrEqual(4);
  expect(watched.items).toBeLessThanOrEqual(6);
});

test.each(channelPeers)('a slow reader holds %s back; the engine never keeps more than the cap', async (kind) => {
  await using engine = await startEngine();
  await using peer = await channelPeer(kind, engine);
  await using client = connectSdk('0.22.1', engine.url);
  const { reader, writerRef } = await client.createChannel(8);
  const watched = watchChannel(engine, writerRef);
  const bytes = randomBytes(12 * MiB);
  const writing = peer.write(writerRef, bytes);

  const hash = createHash('sha256');
  for await (const chunk of reader.stream) {
    hash.update(chunk as Buffer);
    await new Promise((turn) => setTimeout(turn, 1));
  }
  await within(writing, 'the end of writing');

  expect(hash.digest('hex')).toBe(sha256(bytes));
  expect(watched.mostWaiting).toBeLessThanOrEqual(8 + 2);
});

test.each(channelPeers)('a late reader gets all that %s wrote and ended before', async (kind) => {
  await using engine = await startEngine();
  await using writer = await channelPeer(kind, engine);
  await using client = connectSdk('0.11.6', engine.url);
  const { reader, writerRef } = await client.createChannel();
  const bytes = randomBytes(MiB);

  await writer.write(writerRef, bytes);

  expect(sha256(await within(reader.readAll(), 'the stream'))).toBe(sha256(bytes));
});

const impatient = { pingIntervalMs: 50, idleMs: 800 };
const twiceIdle = () => new Promise((later) => setTimeout(later, 2 * impatient.idleMs));

test.concurrent.each(versions)(
  '%s: a writer held back for longer than idleMs is not taken for dead',
  async (version) => {
    await using engine = await startEngine({ limits: impatient });
    await using client = connectSdk(version, engine.url);
    const { writer, reader, writerRef } = await client.createChannel();
    const watched = watchChannel(engine, writerRef);
    const bytes = randomBytes(16 * MiB);
    writer.stream.end(bytes);
    const outcome = finished(writer.stream).then(
      () => 'written',
      () => 'cut off',
    );
    await stalled(watched, client);

    await twiceIdle();

    const read = await within(reader.readAll(), 'the end of the stream');
    expect({ outcome: await outcome, bytes: read.length }).toEqual({ outcome: 'written', bytes: bytes.length });
  },
);

test.concurrent.each(versions)(
  '%s: a reader that pauses for longer than idleMs is not taken for dead',
  async (version) => {
    await using engine = await startEngine({ limits: impatient });
    await using client = connectSdk(version, engine.url);
    const { writer, reader } = await client.createChannel();
    const bytes = randomBytes(32 * MiB);
    writer.stream.on('error', () => {});
    writer.stream.end(bytes);

    let size = 0;
    for await (const chunk of reader.stream) {
      if (size === 0) await twiceIdle();
      size += (chunk as Buffer).length;
    }

    expect(size).toBe(bytes.length);
  },
);

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
