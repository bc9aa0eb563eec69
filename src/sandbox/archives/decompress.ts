/** Decompresses a file. The format is detected by its first bytes, not by its label. */
import { createGunzip } from 'node:zlib';
import { pipeline } from 'node:stream';

import { ArchiveError } from './archive-error.ts';
import { ByteStream } from './byte-stream.ts';
import { unpackZstd } from './zstd.ts';

const GZIP = 0x1f8b;
const ZSTD = 0x28b5_2ffd;
/** Skippable frames, which may open a zstd file, are `5x2a4d18`. */
const ZSTD_SKIPPABLE = 0x502a_4d18;

const CHUNK_BYTES = 262_144;

export async function* decompress(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const bytes = new ByteStream(source);
  try {
    const magic = await bytes.take(4);
    const whole = rejoined(magic, bytes);
    if (magic.length >= 2 && magic.readUInt16BE() === GZIP) yield* gunzip(whole);
    else if (isZstd(magic)) yield* unpackZstd(whole);
    else yield* whole;
  } finally {
    await bytes.close();
  }
}

function isZstd(magic: Buffer): boolean {
  if (magic.length < 4) return false;
  const number = magic.readUInt32BE();
  return number === ZSTD || (number & 0xf0ff_ffff) === ZSTD_SKIPPABLE;
}

async function* rejoined(head: Buffer, rest: ByteStream): AsyncGenerator<Buffer> {
  yield head;
  for (;;) {
    const piece = await rest.some(Number.MAX_SAFE_INTEGER);
    if (piece.length === 0) return;
    yield piece;
  }
}

async function* gunzip(source: AsyncIterable<Buffer>): AsyncGenerator<Uint8Array> {
  const unpacked = createGunzip({ chunkSize: CHUNK_BYTES });
  // A failure of either side destroys `unpacked`, so the loop below throws it.
  pipeline(source, unpacked, () => {});
  try {
    for await (const piece of unpacked) yield piece as Buffer;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!code.startsWith('Z_')) throw error;
    throw new ArchiveError(`damaged gzip data: ${(error as Error).message}`, { cause: error });
  }
}
