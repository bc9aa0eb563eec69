/** Memory of the host for a guest that sends single bytes. */
import { expect, test } from 'vitest';

import { frameHeader, OP } from '../../../src/sandbox/guest/frames.ts';
import { duplexPair, greet } from './sandbox-duplex.ts';

const COMMAND = { argv: ['x'], env: [], cwd: '/', maxOutputBytes: 1_000_000, timeoutMs: 60_000 };
const PORT_BYTES = Buffer.from([7, 0]);
const FIRST = 0x8000_0000;

const frame = (stream: number, op: number, payload: Uint8Array | string = '') => {
  const bytes = Buffer.from(payload);
  return Buffer.concat([frameHeader(stream, op, bytes.length), bytes]);
};
const turn = () => new Promise((resolve) => setImmediate(resolve));

test('single bytes do not make the host keep a block for each', async () => {
  const { host, guest } = duplexPair();
  const client = await greet(host, guest);
  const running = client.exec({ ...COMMAND, signal: new AbortController().signal });
  await turn();
  const before = process.memoryUsage();
  for (let i = 0; i < 20_000; i++) {
    // Each in a block of its own, as slow reads from a socket are.
    const block = Buffer.allocUnsafeSlow(16_384);
    frame(1, OP.data, 'x').copy(block);
    host.emit('data', block.subarray(0, 10));
  }
  global.gc?.();
  const grownMb = (process.memoryUsage().arrayBuffers - before.arrayBuffers) / 2 ** 20;
  guest.write(frame(1, OP.done, '\0\0'));
  const outcome = await running;
  expect(outcome.stdout.equals(Buffer.alloc(20_000, 'x'))).toBe(true);
  // 20 000 blocks would be 312 MiB; garbage that is not collected yet may be some of them.
  expect(grownMb).toBeLessThan(200);
});

test('single bytes on 128 unread connections cost a window each and no more', async () => {
  const { host, guest } = duplexPair();
  const client = await greet(host, guest);
  const listening = client.listen(7, () => {});
  guest.write(frame(1, OP.done));
  await listening;
  guest.write(Buffer.concat(Array.from({ length: 128 }, (_, i) => frame(FIRST + i, OP.open, PORT_BYTES))));
  const before = process.memoryUsage();
  for (let round = 0; round < 200; round++) {
    guest.write(Buffer.concat(Array.from({ length: 128 }, (_, i) => frame(FIRST + i, OP.data, 'x'))));
    await turn();
  }
  const after = process.memoryUsage();
  expect((after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers) / 2 ** 20).toBeLessThan(100);
  client.close();
});
