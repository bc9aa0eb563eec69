/**
 * Zstandard, which Node 20 lacks: the decoder is `fzstd`, fed one block at a time.
 *
 * The frames are parsed here because the decoder trusts them: it allocates whatever window a header states, and unpacks
 * all blocks of a chunk before it can be stopped. One block never yields more than 128 KiB.
 */
import { Decompress } from 'fzstd';

import { ArchiveError } from './archive-error.ts';
import { ByteStream } from './byte-stream.ts';

const FRAME_MAGIC = 0xfd2f_b528;
const SKIPPABLE_MAGIC = 0x184d_2a50;

/** The zstd program's default limit. */
const MAX_WINDOW_BYTES = 128 * 2 ** 20;

/** Sizes by the two-bit fields of a frame header. */
const DICTIONARY_BYTES = [0, 1, 2, 4];
const CONTENT_SIZE_BYTES = [0, 2, 4, 8];

export async function* unpackZstd(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const bytes = new ByteStream(source);
  try {
    for (;;) {
      const magic = await bytes.take(4);
      if (magic.length === 0) return;
      const number = magic.length === 4 ? magic.readUInt32LE() : 0;
      if ((number & 0xffff_fff0) === SKIPPABLE_MAGIC) await skipFrame(bytes);
      else if (number === FRAME_MAGIC) yield* unpackFrame(bytes, magic);
      else throw new ArchiveError('damaged zstd data: no frame where one should begin');
    }
  } finally {
    await bytes.close();
  }
}

async function skipFrame(bytes: ByteStream): Promise<void> {
  for (let left = (await exactly(bytes, 4)).readUInt32LE(); left > 0;) {
    const piece = await bytes.some(left);
    if (piece.length === 0) throw truncated();
    left -= piece.length;
  }
}

async function* unpackFrame(bytes: ByteStream, magic: Buffer): AsyncGenerator<Uint8Array> {
  const unpacked: Uint8Array[] = [];
  const decoder = new Decompress((piece) => unpacked.push(piece));
  const { header, checksumBytes } = await readFrameHeader(bytes);
  let input = Buffer.concat([magic, header]);
  for (let isLast = false; !isLast;) {
    const block = await readBlock(bytes);
    isLast = block.isLast;
    const end = isLast ? await exactly(bytes, checksumBytes) : Buffer.alloc(0);
    input = Buffer.concat([input, block.bytes, end]);
    decode(decoder, input, isLast);
    input = Buffer.alloc(0);
    yield* unpacked.splice(0);
  }
}

function decode(decoder: Decompress, input: Buffer, isLast: boolean): void {
  try {
    decoder.push(input, isLast);
  } catch (error) {
    throw new ArchiveError(`damaged zstd data: ${(error as Error).message}`, { cause: error });
  }
}

async function readFrameHeader(bytes: ByteStream): Promise<{ header: Buffer; checksumBytes: number }> {
  const first = await exactly(bytes, 1);
  const flags = first.readUInt8();
  const isSingleSegment = (flags & 0x20) !== 0;
  const contentSizeBytes = CONTENT_SIZE_BYTES[flags >> 6] || (isSingleSegment ? 1 : 0);
  const dictionaryBytes = DICTIONARY_BYTES[flags & 3] ?? 0;
  const rest = await exactly(bytes, (isSingleSegment ? 0 : 1) + dictionaryBytes + contentSizeBytes);

  const windowBytes = isSingleSegment
    ? contentSize(rest.subarray(rest.length - contentSizeBytes))
    : windowSize(rest.readUInt8());
  if (windowBytes > MAX_WINDOW_BYTES) {
    throw new ArchiveError(`zstd data needs a window of ${windowBytes} bytes; the limit is ${MAX_WINDOW_BYTES}`);
  }
  return { header: Buffer.concat([first, rest]), checksumBytes: (flags & 4) === 0 ? 0 : 4 };
}

async function readBlock(bytes: ByteStream): Promise<{ bytes: Buffer; isLast: boolean }> {
  const head = await exactly(bytes, 3);
  const number = head.readUIntLE(0, 3);
  const isRepeat = ((number >> 1) & 3) === 1;
  const body = await exactly(bytes, isRepeat ? 1 : number >> 3);
  return { bytes: Buffer.concat([head, body]), isLast: (number & 1) === 1 };
}

/** The exponent is in the upper five bits, eighths of it in the lower three. */
function windowSize(descriptor: number): number {
  const base = 2 ** (10 + (descriptor >> 3));
  return base + (base / 8) * (descriptor & 7);
}

/** The two-byte form starts where one byte ends. */
function contentSize(field: Buffer): number {
  if (field.length === 8) return Number(field.readBigUInt64LE());
  return field.readUIntLE(0, field.length) + (field.length === 2 ? 256 : 0);
}

async function exactly(bytes: ByteStream, count: number): Promise<Buffer> {
  const taken = await bytes.take(count);
  if (taken.length < count) throw truncated();
  return taken;
}

function truncated(): ArchiveError {
  return new ArchiveError('damaged zstd data: it ends too early');
}
