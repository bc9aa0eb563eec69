/** Streams over a connection that loses, repeats and reorders messages. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { Channel } from '#engine';
import { ASK_MS, IDLE_MS, MESSAGE_BYTES, NEAR_BYTES, NEAR_ITEMS, RESEND_MS, WINDOW } from './limits.ts';
import { ControlSchema, isData, unpack } from './messages.ts';
import { Sink } from './sink.ts';
import { Source } from './source.ts';
import { Stream } from './stream.ts';

type Taken = ReturnType<Channel['take']>;

const ID = '0123456789abcdef';
const OPEN = { id: 'channel', key: 'key', dir: 'w' as const };

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setImmediate'] }));
afterEach(() => void vi.useRealTimers());

/** A writer's channel whose items go to a reader's, with the messages of both sides in between. */
function connected() {
  const [written, read] = [0, 1].map(
    () => new Channel({ capacity: NEAR_ITEMS, maxBytes: NEAR_BYTES, done: () => {} }),
  ) as [Channel, Channel];
  const under: { to: 'source' | 'sink'; message: Uint8Array }[] = [];
  const source = new Stream(
    { id: ID, open: OPEN, publish: (message) => under.push({ to: 'sink', message }) },
    (line) => new Source(written, line),
  );
  const sink = new Stream(
    { id: ID, publish: (message) => under.push({ to: 'source', message }) },
    (line) => new Sink(read, line, 'broke off'),
  );
  const resumed = vi.fn();
  const gone = vi.fn();
  written.takeWriter({ resume: resumed, readerGone: gone });
  read.takeReader({ readable: () => {} });

  const deliver = ({ to, message }: (typeof under)[number]) => {
    const side = to === 'sink' ? sink : source;
    const data = isData(message) ? unpack(message)! : undefined;
    if (data) side.takeData(data.seq, data.pieces);
    else side.takeControl(ControlSchema.parse(JSON.parse(Buffer.from(message).toString())));
  };
  /** Until nothing is on its way. */
  const settle = () => {
    for (vi.runAllTimers(); under.length > 0; vi.runAllTimers()) deliver(under.shift()!);
  };
  const pass = (ms: number) => {
    vi.advanceTimersByTime(ms);
    for (const side of [source, sink]) side.tick(performance.now());
  };
  const taken: Taken[] = [];
  const takeAll = () => {
    while (taken.at(-1) !== 'ended') {
      const next = read.take();
      if (next === 'empty') break;
      taken.push(next);
      if (typeof next === 'object' && 'broken' in next) break;
    }
    return taken;
  };
  return { written, read, under, source, sink, resumed, gone, deliver, settle, pass, takeAll };
}

test('items of any size arrive unchanged, and then the end', () => {
  const { written, source, sink, settle, takeAll } = connected();
  const items = ['', 'é'.repeat(20_000), Buffer.alloc(0), Buffer.alloc(40_001, 7), 'x', Buffer.from('y')];
  for (const item of items) written.push(item);
  written.endWriting();
  settle();
  expect(takeAll()).toEqual([...items.map((item) => ({ item })), 'ended']);
  expect([source.isOver, sink.isOver]).toEqual([true, true]);
});

test('a broken stream is reported with its reason, not as ended', () => {
  // The last one leaves no room for the reason in its message.
  for (const item of ['', 'first', 'x'.repeat(MESSAGE_BYTES - 10)]) {
    const { written, settle, takeAll } = connected();
    written.push(item);
    written.endWriting('the cable is cut');
    settle();
    expect(takeAll()).toEqual([{ item }, { broken: 'the cable is cut' }]);
  }
});

test('items arrive once and in order although messages are lost, repeated or late', () => {
  for (let seed = 1; seed <= 50; seed++) {
    const { written, under, source, sink, deliver, pass, takeAll } = connected();
    let state = seed;
    const chance = () => (state = (state * 16_807) % 2_147_483_647) / 2_147_483_647;
    const items = Array.from({ length: 40 }, (_, at) => Buffer.alloc(Math.floor(chance() * 50_000), at));
    for (const item of items) written.push(item);
    written.endWriting();
    let taken: Taken[] = [];
    for (let rounds = 0; !source.isOver || !sink.isOver; rounds++) {
      expect(rounds).toBeLessThan(5_000);
      if (under.length === 0) pass(RESEND_MS);
      vi.runAllTimers();
      for (const sent of under.splice(0)) {
        if (chance() < 0.1) continue;
        if (chance() < 0.05) under.push(sent);
        else deliver(sent);
        if (chance() < 0.05) deliver(sent);
      }
      taken = takeAll();
    }
    expect(taken.at(-1)).toBe('ended');
    const arrived = taken.flatMap((one) => (typeof one === 'object' && 'item' in one ? [one.item as Buffer] : []));
    expect(arrived.map((item) => item.length)).toEqual(items.map((item) => item.length));
    expect(Buffer.concat(arrived).equals(Buffer.concat(items))).toBe(true);
  }
});

test('a reader that does not read holds the writer back once queue and window are full', () => {
  const { written, under, settle, pass, resumed, takeAll } = connected();
  let pushed = 0;
  for (let round = 0; round < 10; round++) {
    while (written.push(Buffer.alloc(16_000)) === 'more') pushed++;
    settle();
    pass(RESEND_MS);
    settle();
  }
  expect(pushed).toBeLessThan(3 * (NEAR_ITEMS + WINDOW));
  resumed.mockClear();
  pass(RESEND_MS);
  expect(under.filter(({ message }) => isData(message))).toEqual([]);
  for (let round = 0; round < 10; round++) {
    takeAll();
    settle();
  }
  expect(resumed).toHaveBeenCalled();
  expect(takeAll().length).toBeGreaterThan(pushed);
});

test('the writer is notified when the reader leaves', () => {
  const { read, gone, settle, source, sink } = connected();
  settle();
  read.endReading();
  settle();
  expect(gone).toHaveBeenCalledOnce();
  expect([source.isOver, sink.isOver]).toEqual([true, true]);
});

test('an idle writer keeps its stream, and one on a silent node loses it', () => {
  const { written, settle, pass, takeAll, sink, source, gone } = connected();
  for (let passed = 0; passed < 10 * IDLE_MS; passed += ASK_MS) {
    pass(ASK_MS);
    settle();
  }
  written.push('late');
  settle();
  expect(takeAll()).toEqual([{ item: 'late' }]);
  for (let passed = 0; passed <= IDLE_MS; passed += ASK_MS) pass(ASK_MS);
  expect([source.isOver, sink.isOver]).toEqual([true, true]);
  expect(takeAll().at(-1)).toEqual({ broken: 'broke off' });
  expect(gone).toHaveBeenCalledOnce();
});

test('forged acknowledgements and window sizes have no effect', () => {
  const { written, under, source, settle } = connected();
  under.length = 0;
  source.takeControl({ stream: ID, ack: 5, until: 500 });
  for (let left = 200; left > 0; left--) written.push(Buffer.alloc(16_000));
  vi.runAllTimers();
  expect(under).toEqual([]);
  source.takeControl({ stream: ID, ack: 0, until: 1e15 });
  expect(under).toHaveLength(WINDOW);
  settle();
});

test('an item without an end breaks the stream', () => {
  const { read, sink, takeAll, under } = connected();
  sink.takeControl({ stream: ID, open: OPEN });
  const bytes = Buffer.alloc(16 * 1024);
  for (let seq = 1; !sink.isOver; seq++) sink.takeData(seq, [{ kind: 2, bytes }]);
  expect(takeAll()).toEqual([{ broken: 'broke off' }]);
  expect(JSON.parse(Buffer.from(under.at(-1)!.message).toString())).toEqual({ stream: ID, gone: true });
  expect(read.take()).toEqual({ broken: 'broke off' });
});
