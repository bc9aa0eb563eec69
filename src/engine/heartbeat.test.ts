import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { WebSocket } from 'ws';

import { Heartbeat } from './heartbeat.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** The parts of a socket that a heartbeat uses. */
class FakeSocket extends EventEmitter {
  readonly OPEN = 1;
  readyState = 1;
  bufferedAmount = 0;
  readonly stream = { bytesRead: 0 };
  readonly ping = vi.fn();
  readonly terminate = vi.fn();

  /** How often it was pinged and ended. */
  get counts(): [number, number] {
    return [this.ping.mock.calls.length, this.terminate.mock.calls.length];
  }
}

function watched() {
  const heartbeat = new Heartbeat({ pingIntervalMs: 20, idleMs: 60 });
  const socket = new FakeSocket();
  heartbeat.watch(socket as unknown as WebSocket, socket.stream as Socket);
  return { heartbeat, socket };
}

test('a peer is pinged at each beat, and terminated after too long a silence', () => {
  const { heartbeat, socket } = watched();
  vi.advanceTimersByTime(60);
  expect(socket.counts).toEqual([3, 0]);
  vi.advanceTimersByTime(20);
  expect(socket.counts).toEqual([3, 1]);
  heartbeat.close();
});

test('any byte received or sent counts as a sign of life', () => {
  const { heartbeat, socket } = watched();
  socket.bufferedAmount = 100;
  for (let beat = 0; beat < 50; beat++) {
    if (beat % 4 === 0) socket.stream.bytesRead++;
    if (beat % 4 === 2) socket.bufferedAmount--;
    vi.advanceTimersByTime(20);
  }
  expect(socket.counts).toEqual([50, 0]);
  heartbeat.close();
});

test('time in which this process was suspended does not count as silence', () => {
  const { heartbeat, socket } = watched();
  vi.advanceTimersByTime(20);
  vi.setSystemTime(Date.now() + 3_600_000);
  vi.advanceTimersByTime(20);
  expect(socket.counts).toEqual([2, 0]);
  heartbeat.close();
});

test('does not ping sockets that are closing or closed, and stops on close()', () => {
  const { heartbeat, socket } = watched();
  socket.readyState = 2;
  vi.advanceTimersByTime(20);
  expect(socket.counts).toEqual([0, 0]);
  socket.emit('close');
  vi.advanceTimersByTime(1_000);
  expect(socket.counts).toEqual([0, 0]);
  heartbeat.close();
  expect(vi.getTimerCount()).toBe(0);
});
