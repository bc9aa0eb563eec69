/** The caps on announced bodies: bytes that wait to be fetched, for how long, and fetches at once. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { BODIES_AT_ONCE, MAX_OUTBOX_BYTES, OUTBOX_MS, PIECE_BYTES, PIECES_AT_ONCE } from '../limits.ts';
import { bodyRefIn, Bodies, type BodyRef } from './bodies.ts';
import type { Message, Wire } from './nats.ts';
import { Subjects } from './subjects.ts';

const MiB = 1024 * 1024;
const A = { name: 'a', id: '0000000a' };
const B = { name: 'b', id: '0000000b' };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Two nodes: `b` fetches from `a`, each request when the test lets it. */
function pair() {
  const pending: (() => void)[] = [];
  let most = 0;
  const request = async (_: string, data: Uint8Array) => {
    await new Promise<void>((resolve) => {
      pending.push(resolve);
      most = Math.max(most, pending.length);
    });
    return given(sender, data);
  };
  const sender = new Bodies({} as Wire, new Subjects('c', A));
  const receiver = new Bodies({ request } as unknown as Wire, new Subjects('c', B));
  /** Answers all waiting fetches, and those that follow, until none waits. */
  const settle = async () => {
    for (let idle = 0; idle < 20; idle++) {
      for (const answer of pending.splice(0)) [idle] = [0, answer()];
      await Promise.resolve();
    }
  };
  return { sender, receiver, pending, settle, mostAtOnce: () => most };
}

function given(sender: Bodies, data: Uint8Array, to = B): Uint8Array {
  let answer: Uint8Array = new Uint8Array();
  const respond = (bytes: Uint8Array = new Uint8Array()) => void (answer = bytes);
  sender.give({ subject: '', data, isUnheard: false, respond } satisfies Message, to);
  return answer;
}

const refOf = (announced: Uint8Array | undefined): BodyRef => bodyRefIn(announced!)!;
const pieceOf = ({ key }: BodyRef, at = 0) => Buffer.from(JSON.stringify({ key, at }));

test('cluster.X42 no more than 256 MiB wait to be fetched; what was fetched makes room', () => {
  const { sender } = pair();
  const body = new Uint8Array(64 * MiB);
  const refs = Array.from({ length: 4 }, () => refOf(sender.announce(body, B)));
  expect(MAX_OUTBOX_BYTES).toBe(256 * MiB);
  expect(sender.announce(new Uint8Array(1), B)).toBe(undefined);
  // The last piece ends it.
  expect(given(sender, pieceOf(refs[0]!, body.length - PIECE_BYTES))).toHaveLength(PIECE_BYTES);
  expect(given(sender, pieceOf(refs[0]!))).toHaveLength(0);
  expect(sender.announce(body, B)).not.toBe(undefined);
});

test('cluster.X42 a body that is not fetched is kept for a minute', () => {
  const { sender } = pair();
  const refs = Array.from({ length: 4 }, () => refOf(sender.announce(new Uint8Array(64 * MiB), B)));
  vi.advanceTimersByTime(OUTBOX_MS - 1);
  expect(given(sender, pieceOf(refs[0]!))).toHaveLength(PIECE_BYTES);
  vi.advanceTimersByTime(1);
  expect(given(sender, pieceOf(refs[0]!))).toHaveLength(0);
  expect(sender.announce(new Uint8Array(64 * MiB), B)).not.toBe(undefined);
});

test('a frame of a call waits until its last piece is fetched, once however often it is announced', () => {
  const { sender } = pair();
  const [result, block] = [new Uint8Array(2 * PIECE_BYTES), new Uint8Array(PIECE_BYTES)];
  const ref = refOf(sender.announce(result, B, 'call-1'));
  sender.announce(block, B);
  expect(refOf(sender.announce(result, B, 'call-1'))).toEqual(ref);
  expect(refOf(sender.announce(result, A, 'call-1'))).not.toEqual(ref);
  expect(sender.waitingFrames).toBe(2);
  given(sender, pieceOf(ref));
  expect(sender.waitingFrames).toBe(2);
  given(sender, pieceOf(ref, PIECE_BYTES));
  expect(sender.waitingFrames).toBe(1);
  expect(refOf(sender.announce(result, B, 'call-1'))).not.toEqual(ref);
});

test('cluster.X42 sixteen bodies are fetched at once, three pieces of each; the others wait for their turn', async () => {
  const { sender, receiver, pending, settle, mostAtOnce } = pair();
  const bodies = Array.from({ length: 40 }, (_, at) => Buffer.alloc(5 * PIECE_BYTES + at, at));
  const fetched = bodies.map((body) => receiver.fetch(A, refOf(sender.announce(body, B))));
  await Promise.resolve();
  expect(pending).toHaveLength(BODIES_AT_ONCE * PIECES_AT_ONCE);
  await settle();
  const whole = await Promise.all(fetched);
  expect(whole.every((bytes, at) => bodies[at]!.equals(bytes))).toBe(true);
  expect(mostAtOnce()).toBe(BODIES_AT_ONCE * PIECES_AT_ONCE);
});
