import { duplexPair } from 'node:stream';

import { expect, test } from 'vitest';

import { AgentClient } from './agent-client.ts';
import { frameHeader, FrameReader, MAX_FRAME_BYTES, OP, PROTOCOL_VERSION, WINDOW_BYTES } from './frames.ts';
import { AgentTooOld } from './guest-error.ts';
import { GuestFiles } from './guest-files.ts';

/** As many requests as the client has open at once. */
const MAX_OPEN = 100;

/** A guest that answers when the test decides, and the requests that it received. */
async function silentGuest(version = PROTOCOL_VERSION) {
  const [near, far] = duplexPair();
  const reader = new FrameReader();
  const asked: { stream: number; op: number }[] = [];
  far.on('data', (piece: Buffer) => {
    for (const { stream, op } of reader.read(piece)) if (stream > 0) asked.push({ stream, op });
  });
  const send = (stream: number, op: number, payload: Buffer) =>
    far.write(Buffer.concat([frameHeader(stream, op, payload.length), payload]));
  const greeting = Buffer.alloc(12);
  [version, MAX_FRAME_BYTES, WINDOW_BYTES].forEach((fact, at) => greeting.writeUInt32LE(fact, 4 * at));
  send(0, OP.hello, greeting);
  const client = await AgentClient.open(near, { deadlineMs: 60_000 });
  return { client, asked, answer: (stream: number) => send(stream, OP.done, Buffer.alloc(0)) };
}

/** A client with as many open requests as it may have. */
async function busyGuest() {
  const guest = await silentGuest();
  const open = await Promise.all(
    Array.from({ length: MAX_OPEN }, () => guest.client.request(OP.stat, Buffer.alloc(0))),
  );
  await expect.poll(() => guest.asked.length).toBe(MAX_OPEN);
  return { ...guest, open };
}

test.each([
  ['a command', (client: AgentClient, signal: AbortSignal) => client.exec({ ...COMMAND, signal })],
  ['a question', (client: AgentClient, signal: AbortSignal) => new GuestFiles(client).stat('/', { signal })],
  ['a file that is read', (client: AgentClient, signal: AbortSignal) => new GuestFiles(client).read('/', { signal })],
  ['a list', (client: AgentClient, signal: AbortSignal) => new GuestFiles(client).list('/', { signal }).next()],
])('%s that waits for its turn leaves when its caller does, and the next one gets the turn', async (_, call) => {
  const { client, asked, open, answer } = await busyGuest();
  const leaver = new AbortController();
  const leaving = call(client, leaver.signal);
  const behind = client.request(OP.walk, Buffer.alloc(0));
  leaver.abort(new Error('left'));
  await expect(leaving).rejects.toThrow('left');

  answer(open[0]!.id);
  await behind;
  await expect.poll(() => asked.slice(MAX_OPEN).map(({ op }) => op)).toEqual([OP.walk]);
  client.close();
});

test('a turn goes to the caller that has waited longest, and none comes between', async () => {
  const { client, asked, open, answer } = await busyGuest();
  const order: string[] = [];
  const waiting = client.request(OP.walk, Buffer.alloc(0)).then(() => order.push('waited'));
  // Ends with the answer below, and so before a queued request is sent.
  void open[0]!.answer.then(() => client.request(OP.list, Buffer.alloc(0)).catch(() => order.push('lost')));
  answer(open[0]!.id);
  await waiting;
  await new Promise(setImmediate);
  expect(asked.slice(MAX_OPEN).map(({ op }) => op)).toEqual([OP.walk]);
  client.close();
  await expect.poll(() => order).toEqual(['waited', 'lost']);
});

test('live.D10 an older agent runs commands, and what it lacks is refused with its version and not sent', async () => {
  const { client, asked, answer } = await silentGuest(1);
  const { signal } = new AbortController();
  const terminal = { columns: 80, rows: 24 };
  await expect(client.start({ ...COMMAND, terminal }, { signal })).rejects.toThrow(
    'the agent in this sandbox speaks version 1 of the guest protocol; a terminal needs version 2',
  );
  const process = await client.start({ ...COMMAND, isFollowed: true }, { signal });
  await process.started();
  await expect(process.sendSignal('SIGINT')).rejects.toBeInstanceOf(AgentTooOld);
  await expect.poll(() => asked).toEqual([{ stream: 1, op: OP.exec }]);
  answer(1);
  await process.done;
  client.close();
});

const COMMAND = { argv: ['x'], env: [], cwd: '/', maxOutputBytes: 1, timeoutMs: 60_000 };
