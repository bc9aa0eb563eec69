/** The follower of a job, with channels that are driven by hand: offsets, breaks, and views that are behind. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { CallFailure, type ChannelEnd } from '../bus.ts';
import { JobFollower, type Attached, type FollowState, type JobLine, type OutputView } from './job-follower.ts';

class Channel extends EventTarget {
  readyState = 0;
  bufferedAmount = 0;
  readonly sent: (string | Uint8Array)[] = [];
  readonly end: ChannelEnd;

  constructor(end: ChannelEnd) {
    super();
    this.end = end;
    queueMicrotask(() => {
      this.readyState = 1;
      this.dispatchEvent(new Event('open'));
    });
  }

  send(item: string | Uint8Array): void {
    this.sent.push(item);
  }

  bring(data: string | Uint8Array): void {
    const item = typeof data === 'string' ? data : data.buffer.slice(data.byteOffset, data.byteOffset + data.length);
    this.dispatchEvent(new MessageEvent('message', { data: item }));
  }

  close(): void {
    this.readyState = 3;
    this.dispatchEvent(new Event('close'));
  }
}

const bytes = (text: string) => new TextEncoder().encode(text);
const err = (at: number, text: string) => JSON.stringify({ t: 'err', at, base64: btoa(text) });

let asked: { since: number; input: boolean }[];
let channels: Channel[];
let answer: (request: { since: number; input: boolean }) => Attached;
let shown: string[];
let states: FollowState['kind'][];
let behind: (() => void)[];
let isSlow: boolean;
let follower: JobFollower;

beforeEach(() => {
  vi.useFakeTimers();
  [asked, channels, shown, states, behind, isSlow] = [[], [], [], [], [], false];
  answer = ({ input }) => attached(input);
});
afterEach(() => {
  follower.close();
  vi.useRealTimers();
});

const end = (direction: 'read' | 'write') => ({ channel_id: 'c', access_key: 'k', direction });
const attached = (input: boolean, next = 0): Attached => ({
  ...{ reader: end('read'), next },
  ...(input && { writer: end('write') }),
});

async function follow(more: Partial<OutputView> = {}): Promise<void> {
  const line: JobLine = {
    attach: async (request) => (asked.push(request), answer(request)),
    open: (one) => (channels.push(new Channel(one)), channels.at(-1) as unknown as WebSocket),
  };
  follower = new JobFollower({
    line,
    view: {
      begin: (historyEnd) => shown.push(`history to ${historyEnd}`),
      write(stream, piece, done) {
        shown.push(`${stream} ${new TextDecoder().decode(piece)}`);
        if (isSlow) behind.push(done);
        else done();
      },
      lost: (count) => shown.push(`lost ${count}`),
      ...more,
    },
    onState: ({ kind }) => states.push(kind),
  });
  await vi.advanceTimersByTimeAsync(0);
}
const reader = () => channels.findLast((one) => one.end.direction === 'read')!;
const writer = () => channels.findLast((one) => one.end.direction === 'write')!;

test('live.D19 both streams, what was lost and the end, with the offset of the next byte', async () => {
  answer = ({ input }) => attached(input, 40);
  await follow();
  reader().bring(JSON.stringify({ t: 'lost', at: 0, bytes: 30 }));
  reader().bring(bytes('out'));
  reader().bring(err(33, 'err'));
  expect(follower.next).toBe(36);
  reader().bring(JSON.stringify({ t: 'exit', at: 36, status: 'failed', exit_code: 2 }));
  expect(shown).toEqual(['history to 40', 'lost 30', 'stdout out', 'stderr err']);
  expect(states).toEqual(['live', 'ended']);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(asked).toEqual([{ since: 0, input: true }]);
});

test('live.D20 the view has the input before it gets output, and none after a break', async () => {
  await follow({ connect: (input) => shown.push(input ? 'input' : 'no input') });
  reader().bring(bytes('where?'));
  reader().close();
  expect(shown).toEqual(['history to 0', 'input', 'stdout where?', 'no input']);
});

test('live.D19 after a broken channel it attaches at the next offset and reports the history once', async () => {
  await follow();
  reader().bring(bytes('12345'));
  const old = reader();
  old.close();
  old.bring(bytes('late'));
  expect(states).toEqual(['live', 'broken']);
  await vi.advanceTimersByTimeAsync(1000);
  reader().bring(bytes('6'));
  expect(asked.map(({ since }) => since)).toEqual([0, 5]);
  expect(shown).toEqual(['history to 0', 'stdout 12345', 'stdout 6']);
});

test('live.D19 retries on temporary errors and fails on others', async () => {
  const codes = ['connection_lost', 'S224', 'S220'];
  answer = () => {
    throw new CallFailure({ code: codes.shift()!, message: 'x' });
  };
  await follow();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(states).toEqual(['broken', 'broken', 'failed']);
  expect(asked).toHaveLength(3);
});

test('live.D19 a job without stdin is attached without input, and send() returns false', async () => {
  answer = ({ input }) => {
    if (input) throw new CallFailure({ code: 'S221', message: 'no input' });
    return attached(false);
  };
  await follow();
  expect(asked.map(({ input }) => input)).toEqual([true, false]);
  expect(follower.send(bytes('x'))).toBe(false);
});

test('live.D20 opens the input channel before the output channel', async () => {
  await follow();
  expect(channels.map(({ end: { direction } }) => direction)).toEqual(['write', 'read']);
});

test('live.D20 input is sent in 64 KiB pieces, and refused while the send buffer is full', async () => {
  await follow();
  expect(follower.send(new Uint8Array(150_000))).toBe(true);
  expect(writer().sent.map(({ length }) => length)).toEqual([65_536, 65_536, 18_928]);
  follower.resize(132, 50);
  follower.endInput();
  expect(writer().sent.slice(3)).toEqual(['{"resize":[132,50]}', '{"eof":true}']);
  writer().bufferedAmount = 2 ** 20;
  expect(follower.send(bytes('x'))).toBe(false);
});

test('live.D19 a slow view closes the channel and attaches again at its offset', async () => {
  isSlow = true;
  await follow();
  const piece = new Uint8Array(2 ** 20);
  for (let n = 0; n < 20; n++) reader().bring(piece);
  // Output after the limit is not read: the ring of the job keeps it.
  expect(behind).toHaveLength(9);
  expect(reader().readyState).toBe(3);
  expect(asked).toHaveLength(1);
  for (const done of behind.splice(0)) done();
  await vi.advanceTimersByTimeAsync(0);
  expect(asked.map(({ since }) => since)).toEqual([0, 9 * 2 ** 20]);
  expect(states).toEqual(['live', 'live']);
});
