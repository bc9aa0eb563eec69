import { onTestFinished, expect, test } from 'vitest';

import { CHANNEL_CHUNK_BYTES, type ChannelItem } from '#protocol';
import { ChannelBroker } from './channels.ts';
import { defaultLimits } from '../limits.ts';
import { memoryReader, memoryWriter } from './memory-channels.ts';

async function openBoth(bufferSize: number) {
  const broker = new ChannelBroker(defaultLimits);
  onTestFinished(() => broker.close());
  const refs = broker.create(bufferSize);
  return {
    broker,
    refs,
    writer: await memoryWriter(broker, refs.writer),
    reader: await memoryReader(broker, refs.reader),
  };
}

async function collect(reader: AsyncIterable<ChannelItem>): Promise<ChannelItem[]> {
  const items: ChannelItem[] = [];
  for await (const item of reader) items.push(item);
  return items;
}

test('items are read as written, in chunks that every peer accepts; then the channel is removed', async () => {
  const { broker, writer, reader } = await openBoth(1);
  const bytes = Buffer.alloc(2.5 * CHANNEL_CHUNK_BYTES, 'abc');
  const writing = (async () => {
    await writer.write('a text');
    await writer.write(bytes);
    await writer.end();
  })();

  const [text, ...chunks] = await collect(reader);
  await writing;
  expect([text, chunks.length, Buffer.concat(chunks as Buffer[]).equals(bytes)]).toEqual(['a text', 3, true]);
  expect(broker.count).toBe(0);
});

test('a writer waits for its reader once the buffer is full', async () => {
  const { writer, reader } = await openBoth(2);
  await writer.write('1');
  let isTaken = false;
  const second = writer.write('2').then(() => (isTaken = true));
  await new Promise((resolve) => setImmediate(resolve));
  expect(isTaken).toBe(false);

  const stream = reader[Symbol.asyncIterator]();
  expect(await stream.next()).toEqual({ done: false, value: '1' });
  await second;
  await writer.end();
  expect([await stream.next(), await stream.next()]).toEqual([
    { done: false, value: '2' },
    { done: true, value: undefined },
  ]);
});

test('concurrent blocked writes all resolve when there is room and when the reader leaves', async () => {
  const { writer, reader } = await openBoth(1);
  const writing = Promise.all(['1', '2', '3'].map((item) => writer.write(item)));
  const stream = reader[Symbol.asyncIterator]();
  const read = [await stream.next(), await stream.next(), await stream.next()].map(({ value }) => value as ChannelItem);
  await writing;
  expect(read).toEqual(['1', '2', '3']);

  const left = await openBoth(1);
  const waiting = ['1', '2'].map((item) => left.writer.write(item));
  left.reader.cancel();
  await Promise.all(waiting);
});

test.each(['cancel', 'return'] as const)('a waiting writer learns that its reader left by %s', async (way) => {
  const { broker, writer, reader, refs } = await openBoth(1);
  const waiting = writer.write(Buffer.alloc(2 * CHANNEL_CHUNK_BYTES));
  const stream = reader[Symbol.asyncIterator]();
  if (way === 'cancel') {
    reader.cancel();
  } else {
    await stream.next();
    await stream.return?.();
  }
  await expect(waiting.then(() => writer.write('more'))).rejects.toThrow(
    `the reader of channel ${refs.writer.channel_id} is gone; create another`,
  );
  expect(broker.count).toBe(0);
});

test('a waiting reader fails when its writer breaks the stream off and ends when it is cancelled', async () => {
  const aborted = await openBoth(1);
  const reading = collect(aborted.reader);
  aborted.writer.abort();
  await expect(reading).rejects.toThrow('the writer of this channel broke off');

  const cancelled = await openBoth(1);
  const waiting = collect(cancelled.reader);
  cancelled.reader.cancel();
  expect(await waiting).toEqual([]);
});

test('refuses an end that was taken, and a channel with a wrong key', async () => {
  const { broker, refs } = await openBoth(1);
  const id = refs.reader.channel_id;
  await expect(memoryReader(broker, refs.reader)).rejects.toThrow(`the read end of channel ${id} was taken before`);
  await expect(memoryWriter(broker, refs.writer)).rejects.toThrow(`the write end of channel ${id} was taken before`);
  await expect(memoryReader(broker, { ...refs.reader, access_key: 'guess' })).rejects.toThrow(
    `Channel not found: ${id}`,
  );
});
