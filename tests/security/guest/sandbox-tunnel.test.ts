/** A guest that lies about the connections of its programs: it gets no more than the limit, or is ended. */
import type { Duplex } from 'node:stream';

import { describe, expect, test } from 'vitest';

import type { AgentClient } from '../../../src/sandbox/guest/agent-client.ts';
import { frameHeader, FrameReader, OP, ProtocolError, WINDOW_BYTES } from '../../../src/sandbox/guest/frames.ts';
import { duplexPair, greet } from './sandbox-duplex.ts';

const PORT = 3128;
const FIRST = 0x8000_0000;
const PORT_BYTES = Buffer.from([PORT & 255, PORT >> 8]);

const frame = (stream: number, op: number, payload: Uint8Array | string = '') => {
  const bytes = Buffer.from(payload);
  return Buffer.concat([frameHeader(stream, op, bytes.length), bytes]);
};
const open = (id: number, port = PORT_BYTES) => frame(FIRST + id, OP.open, port);
const fail = (id: number) => frame(FIRST + id, OP.fail, Buffer.from([104, 0, 0, 0, 0]));

interface Lab {
  readonly client: AgentClient;
  readonly connections: Duplex[];
  say(...frames: Buffer[]): void;
  /** The operations that the guest received on a stream. */
  sent(stream: number): number[];
}

async function startLab(): Promise<Lab> {
  const { host, guest } = duplexPair();
  const reader = new FrameReader();
  const sent: [number, number][] = [];
  guest.on('data', (piece: Buffer) => {
    for (const { stream, op } of reader.read(piece)) {
      sent.push([stream, op]);
      if (op === OP.listen) guest.write(frame(stream, OP.done));
    }
  });
  const client = await greet(host, guest);
  const connections: Duplex[] = [];
  await client.listen(PORT, (connection) => connections.push(connection));
  return {
    client,
    connections,
    say: (...frames) => void guest.write(Buffer.concat(frames)),
    sent: (stream) => sent.filter(([of]) => of === stream).map(([, op]) => op),
  };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('the connection ends when the guest', () => {
  const window = frame(FIRST + 1, OP.data, Buffer.alloc(WINDOW_BYTES - 100));
  test.each([
    ['connects to a port that was not requested', [open(1, Buffer.from([1, 1]))], 'payload'],
    ['connects to no port', [open(1, Buffer.alloc(0))], 'payload'],
    ['connects to a port of three bytes', [open(1, Buffer.from([...PORT_BYTES, 0]))], 'payload'],
    ['takes a number of the host', [frame(77, OP.open, PORT_BYTES)], 'unknown-stream'],
    ['takes a number twice', [open(1), open(1)], 'unknown-op'],
    ['has one connection too many', Array.from({ length: 129 }, (_, i) => open(i)), 'connections'],
    ['speaks on a connection that it ended', [open(1), fail(1), frame(FIRST + 1, OP.data, 'x')], 'unknown-stream'],
    ['ends one twice', [open(1), frame(FIRST + 1, OP.end), frame(FIRST + 1, OP.end)], 'unknown-op'],
    ['sends after the end', [open(1), frame(FIRST + 1, OP.end), frame(FIRST + 1, OP.data, 'x')], 'unknown-op'],
    ['has a second output', [open(1), frame(FIRST + 1, OP.dataErr, 'x')], 'unknown-op'],
    ['sends more than a window', [open(1), window, window], 'credit'],
    ['speaks on one it never opened', [frame(FIRST + 5, OP.data, 'x')], 'unknown-stream'],
    ['asks the host for something', [open(1), frame(FIRST + 1, OP.exec, 'x')], 'unknown-op'],
  ])('%s', async (_, frames, breach) => {
    const { client, connections, say } = await startLab();
    say(...frames);
    expect(await client.closed).toBeInstanceOf(ProtocolError);
    expect(await client.closed).toMatchObject({ breach });
    await turn();
    expect(connections.every(({ destroyed }) => destroyed)).toBe(true);
  });

  test('ends the output of a command that is not a connection', async () => {
    const { client, say } = await startLab();
    await client.request(OP.exec, Buffer.alloc(0));
    say(frame(2, OP.end));
    expect(await client.closed).toMatchObject({ breach: 'unknown-op' });
  });
});

test('20 000 connections that are opened and ended at once cost no more than those that are kept', async () => {
  const { client, connections, say, sent } = await startLab();
  say(...Array.from({ length: 20_000 }, (_, i) => [open(i), fail(i)]).flat());
  expect(connections.length).toBe(512);
  await turn();
  expect(connections.every(({ destroyed }) => destroyed)).toBe(true);
  say(open(30_000));
  expect(connections.length).toBe(513);
  expect(sent(FIRST + 30_000)).toEqual([]);
  client.close();
});

test('a connection that the guest ended is let go of only when both sides said so', async () => {
  const { client, connections, say, sent } = await startLab();
  say(open(1), frame(FIRST + 1, OP.data, 'hello'), frame(FIRST + 1, OP.end));
  const [connection] = connections;
  let heard = '';
  connection!.on('data', (piece: Buffer) => (heard += piece.toString()));
  await new Promise((resolve) => connection!.once('end', resolve));
  expect([heard, sent(FIRST + 1)]).toEqual(['hello', []]);
  const closed = new Promise((resolve) => connection!.once('close', resolve));
  connection!.end('bye');
  await closed;
  expect(sent(FIRST + 1)).toEqual([OP.data, OP.end]);
  say(frame(FIRST + 1, OP.done), open(1));
  expect(connections).toHaveLength(2);
  client.close();
});

test('single bytes on 128 connections without a reader buffer a window each and no more', async () => {
  const { client, connections, say } = await startLab();
  say(...Array.from({ length: 128 }, (_, i) => open(i)));
  for (let round = 0; round < 200; round++) {
    say(...Array.from({ length: 128 }, (_, i) => frame(FIRST + i, OP.data, 'x')));
    await turn();
  }
  expect(connections.reduce((sum, { readableLength }) => sum + readableLength, 0)).toBeLessThanOrEqual(128 * 200);
  expect(client.closed).toBeInstanceOf(Promise);
  client.close();
});

test('a connection that the guest broke is closed, and the guest is notified', async () => {
  const { client, connections, say, sent } = await startLab();
  say(open(1), fail(1));
  await turn();
  expect([connections[0]!.destroyed, sent(FIRST + 1)]).toEqual([true, [OP.cancel]]);
  client.close();
});

test('a host that closes first resets it in the guest, once', async () => {
  const { client, connections, say, sent } = await startLab();
  say(open(1));
  connections[0]!.destroy();
  await turn();
  expect(sent(FIRST + 1)).toEqual([OP.cancel]);
  say(frame(FIRST + 1, OP.data, 'late'), fail(1));
  await turn();
  expect(sent(FIRST + 1)).toEqual([OP.cancel]);
  say(open(2));
  expect(connections).toHaveLength(2);
  client.close();
});
