import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { Channel, ChannelBroker, type Taken } from './channels.ts';
import { defaultLimits } from '../limits.ts';

function open(options: { capacity?: number; maxBytes?: number } = {}) {
  const done = vi.fn();
  const channel = new Channel({ capacity: 2, maxBytes: 100, ...options, done });
  const writer = { resume: vi.fn(), readerGone: vi.fn() };
  const reader = { readable: vi.fn() };
  return { channel, done, writer, reader };
}

function takeAll(channel: Channel): Taken[] {
  const all: Taken[] = [];
  for (;;) {
    const taken = channel.take();
    all.push(taken);
    if (!('item' in Object(taken))) return all;
  }
}

test('items come out as they went in, bytes as bytes and text as text', () => {
  const { channel, writer, reader } = open({ capacity: 10 });
  channel.takeWriter(writer);
  const bytes = Buffer.from('b');
  for (const item of ['a', bytes, '', Buffer.alloc(0)]) channel.push(item);
  channel.takeReader(reader);
  expect(takeAll(channel)).toEqual([{ item: 'a' }, { item: bytes }, { item: '' }, { item: Buffer.alloc(0) }, 'empty']);
  channel.endWriting();
  expect(channel.take()).toBe('ended');
});

test('each end is taken once', () => {
  const { channel, writer, reader } = open();
  expect([channel.takeWriter(writer), channel.takeWriter(writer)]).toEqual([true, false]);
  expect(channel.hasFreeEnd).toBe(true);
  expect([channel.takeReader(reader), channel.takeReader(reader)]).toEqual([true, false]);
  expect(channel.hasFreeEnd).toBe(false);
});

test('a writer is held back at the cap and resumed once below it', () => {
  const { channel, writer, reader } = open({ capacity: 2 });
  channel.takeWriter(writer);
  expect([channel.push('1'), channel.push('2'), channel.push('3')]).toEqual(['more', 'wait', 'wait']);
  channel.takeReader(reader);
  channel.take();
  expect(writer.resume).not.toHaveBeenCalled();
  channel.take();
  channel.take();
  expect(writer.resume).toHaveBeenCalledOnce();
});

test('bytes hold a writer back as messages do', () => {
  const { channel, writer } = open({ capacity: 1_000, maxBytes: 10 });
  channel.takeWriter(writer);
  expect([channel.push(Buffer.alloc(9)), channel.push(Buffer.alloc(1))]).toEqual(['more', 'wait']);
  channel.take();
  expect(writer.resume).toHaveBeenCalledOnce();
  expect(channel.push(Buffer.alloc(50))).toBe('wait');
});

test('a reader is notified of items, of items that waited for it, and of the end', () => {
  const { channel, writer, reader } = open();
  channel.takeWriter(writer);
  channel.takeReader(reader);
  expect(reader.readable).not.toHaveBeenCalled();
  channel.push('1');
  expect(reader.readable).toHaveBeenCalledTimes(1);
  channel.endWriting();
  channel.endWriting();
  expect(reader.readable).toHaveBeenCalledTimes(2);

  const late = open();
  late.channel.takeWriter(late.writer);
  late.channel.push('1');
  late.channel.endWriting();
  late.channel.takeReader(late.reader);
  expect(late.reader.readable).toHaveBeenCalledOnce();
  expect(takeAll(late.channel)).toEqual([{ item: '1' }, 'ended']);
});

test('a reader gets a break after the last item, and no end', () => {
  const { channel, writer, reader } = open();
  channel.takeWriter(writer);
  channel.takeReader(reader);
  channel.push('1');
  channel.endWriting('the cable is cut');
  channel.endWriting();
  expect(reader.readable).toHaveBeenCalledTimes(2);
  expect(takeAll(channel)).toEqual([{ item: '1' }, { broken: 'the cable is cut' }]);
  channel.endReading();
  expect(channel.take()).toBe('ended');
});

test('a reader that leaves notifies its writer, and what waited for it is dropped', () => {
  const { channel, done, writer, reader } = open();
  channel.takeWriter(writer);
  channel.takeReader(reader);
  channel.push('1');
  channel.endReading();
  expect(writer.readerGone).toHaveBeenCalledOnce();
  expect([channel.push('2'), channel.take()]).toEqual(['gone', 'ended']);
  expect(done).not.toHaveBeenCalled();
  channel.endWriting();
  expect(done).toHaveBeenCalledOnce();
});

test('a writer that connects after its reader left is notified at once', () => {
  const { channel, writer, reader } = open();
  channel.takeReader(reader);
  channel.endReading();
  expect(channel.takeWriter(writer)).toBe(true);
  expect(writer.readerGone).toHaveBeenCalledOnce();
});

test('a channel is done once, when both ends are, in either order', () => {
  const first = open();
  first.channel.takeWriter(first.writer);
  first.channel.takeReader(first.reader);
  first.channel.endWriting();
  expect(first.done).not.toHaveBeenCalled();
  first.channel.endReading();
  first.channel.endReading();
  expect(first.done).toHaveBeenCalledOnce();
});

describe('a broker', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('gives two references that differ in direction only', () => {
    const broker = new ChannelBroker(defaultLimits);
    const { writer, reader } = broker.create();
    expect(writer).toEqual({ ...reader, direction: 'write' });
    expect(reader.direction).toBe('read');
    expect(broker.find(reader)).toBe(broker.find(writer));
    broker.close();
  });

  test.each([
    [undefined, 64],
    [0, 1],
    [1, 1],
    [1024, 1024],
    [1_000_000, 1024],
  ])('a buffer of %j holds %i messages', (asked, size) => {
    const broker = new ChannelBroker(defaultLimits);
    const channel = broker.find(broker.create(asked).writer)!;
    channel.takeWriter({ resume() {}, readerGone() {} });
    let pushed = 1;
    while (channel.push('') === 'more') pushed++;
    expect(pushed).toBe(size);
    broker.close();
  });

  test('finds a channel by id and key together', () => {
    const broker = new ChannelBroker(defaultLimits);
    const [one, two] = [broker.create().reader, broker.create().reader];
    const wrong = [
      { ...one, access_key: two.access_key },
      { ...one, channel_id: two.channel_id },
      { ...one, access_key: '' },
    ];
    expect(wrong.map((ref) => broker.find(ref))).toEqual([undefined, undefined, undefined]);
    broker.close();
  });

  test('breaks a channel off when one end never connects', () => {
    const broker = new ChannelBroker({ ...defaultLimits, channelTtlMs: 1_000 });
    const refs = [0, 1, 2, 3].map(() => broker.create().reader);
    const [onlyWriter, onlyReader, both] = refs.map((ref) => broker.find(ref)!);
    const [writer, reader] = [{ resume() {}, readerGone: vi.fn() }, { readable: vi.fn() }];
    onlyWriter!.takeWriter(writer);
    onlyReader!.takeReader(reader);
    both!.takeWriter({ resume() {}, readerGone() {} });
    both!.takeReader({ readable() {} });

    vi.advanceTimersByTime(1_000);
    expect(broker.count).toBe(4);
    vi.advanceTimersByTime(200);
    expect(broker.count).toBe(1);
    expect(writer.readerGone).toHaveBeenCalledOnce();
    expect(reader.readable).toHaveBeenCalledOnce();
    expect(onlyReader!.take()).toEqual({ broken: 'no writer connected to this channel' });
    expect(broker.find(refs[2]!)).toBe(both);
    broker.close();
    expect([broker.count, vi.getTimerCount()]).toEqual([0, 0]);
  });

  test('refuses one channel too many, by name', () => {
    const broker = new ChannelBroker({ ...defaultLimits, maxChannels: 1 });
    broker.create();
    expect(() => broker.create()).toThrow('the engine allows 1 open channels');
    broker.close();
  });
});
