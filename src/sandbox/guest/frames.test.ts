/** Frames come out as they went in, however the bytes were cut. */
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { frameHeader, FrameReader, MAX_FRAME_BYTES, MAX_PAYLOAD_BYTES, type Frame } from './frames.ts';

const frame = fc.record({
  stream: fc.nat(0xffff_ffff),
  op: fc.nat(255),
  payload: fc.uint8Array({ maxLength: 300, size: 'max' }).map((bytes) => Buffer.from(bytes)),
});

function bytesOf(frames: readonly Frame[]): Buffer {
  return Buffer.concat(frames.flatMap(({ stream, op, payload }) => [frameHeader(stream, op, payload.length), payload]));
}

function readAll(pieces: Iterable<Buffer>): Frame[] {
  const reader = new FrameReader();
  return [...pieces].flatMap((piece) => [...reader.read(piece)]);
}

test('frames are read whole whatever pieces they come in', () => {
  fc.assert(
    fc.property(
      fc.array(frame, { maxLength: 20, size: 'max' }),
      fc.array(fc.integer({ min: 1, max: 40 })),
      (frames, sizes) => {
        const bytes = bytesOf(frames);
        const pieces: Buffer[] = [];
        for (let at = 0, i = 0; at < bytes.length; i++) {
          const size = sizes[i % sizes.length] ?? 7;
          pieces.push(bytes.subarray(at, at + size));
          at += size;
        }
        expect(readAll(pieces)).toEqual(frames);
      },
    ),
  );
});

test('the largest frame is read and one byte more is refused before it is there', () => {
  const payload = Buffer.alloc(MAX_PAYLOAD_BYTES, 'x');
  const [read] = readAll([bytesOf([{ stream: 1, op: 3, payload }])]);
  expect(read?.payload.equals(payload)).toBe(true);
  expect(() => readAll([frameHeader(1, 3, MAX_PAYLOAD_BYTES + 1)])).toThrow('frame-length');
});

test.each([0, 4, MAX_FRAME_BYTES - 3, 0xffff_ffff])('a length of %i ends the reading', (length) => {
  const bytes = Buffer.alloc(9);
  bytes.writeUInt32LE(length);
  expect(() => readAll([bytes])).toThrow('frame-length');
  expect(() => readAll([bytes.subarray(0, 2), bytes.subarray(2)])).toThrow('frame-length');
});
