import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';

import { expect, test } from 'vitest';

import { decompress } from './decompress.ts';

const hasZstd = spawnSync('zstd', ['--version']).status === 0;

async function* chunksOf(data: Buffer, chunkBytes: number) {
  for (let at = 0; at < data.length; at += chunkBytes) yield data.subarray(at, at + chunkBytes);
}

async function unpacked(data: Buffer, chunkBytes = 65_536): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of decompress(chunksOf(data, chunkBytes))) pieces.push(piece);
  return Buffer.concat(pieces);
}

function zstd(data: Buffer, ...options: string[]): Buffer {
  return execFileSync('zstd', ['-c', '-q', ...options], { input: data, maxBuffer: 2 ** 28 });
}

const text = Buffer.from(Array.from({ length: 60_000 }, (_, at) => `line ${at * 7919}\n`).join(''));
const noise = randomBytes(700_000);

test.skipIf(!hasZstd).each([
  ['text', text],
  ['noise', noise],
  ['zeros', Buffer.alloc(5_000_000)],
  ['nothing', Buffer.alloc(0)],
  ['one byte', Buffer.from('x')],
])(
  'unpacks %s as zstd packed it, at every level and with a checksum or without (skipped without the zstd program)',
  async (_, data) => {
    for (const options of [['-1'], ['-19', '--no-check']]) {
      expect((await unpacked(zstd(data, ...options))).equals(data)).toBe(true);
    }
  },
);

test.skipIf(!hasZstd)('unpacks several frames, skippable ones between them, from chunks of any size', async () => {
  const skippable = Buffer.from('502a4d1803000000aabbcc', 'hex');
  const data = Buffer.concat([skippable, zstd(text), skippable, zstd(noise)]);
  for (const chunkBytes of [997, 65_536, data.length]) {
    expect((await unpacked(data, chunkBytes)).equals(Buffer.concat([text, noise]))).toBe(true);
  }
});

/** A frame whose header asks for a window, with one block of one byte. */
function frameWithWindow(descriptor: number): Buffer {
  return Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, descriptor, 0x09, 0x00, 0x00, 0x61]);
}

test('takes the largest window that zstd does, and none beyond', async () => {
  expect(await unpacked(frameWithWindow(17 << 3))).toEqual(Buffer.from('a'));
  await expect(unpacked(frameWithWindow((17 << 3) + 1))).rejects.toThrow(/needs a window of 150994944 bytes/);
});

test.skipIf(!hasZstd)('refuses data that ends too early or is damaged', async () => {
  const packed = zstd(text);
  const flipped = Buffer.from(packed);
  flipped.fill(0xff, 2000, 2040);
  await expect(unpacked(packed.subarray(0, -10))).rejects.toThrow(/ends too early/);
  await expect(unpacked(Buffer.concat([packed, Buffer.from('more')]))).rejects.toThrow(/no frame/);
  await expect(unpacked(flipped)).rejects.toThrow(/damaged zstd data/);
});
