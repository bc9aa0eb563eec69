import fc from 'fast-check';
import { expect, test } from 'vitest';

import { decodeText } from './decode-text.ts';

const never = { signal: new AbortController().signal };
const MIB = 1 << 20;

/** Characters of every length, and bytes that are none. */
const pieces = fc.constantFrom(
  ...['a', 'é', '€', '😀'].map((char) => [...Buffer.from(char)]),
  ...[0x80, 0xbf, 0xc3, 0xe2, 0xf0, 0xff].map((byte) => [byte]),
  [0xf0, 0x9f],
  [0xe2, 0x82],
  [0xbf, 0xbf, 0xbf, 0xbf],
);
const seams = fc.array(pieces, { minLength: 4, maxLength: 12 }).map((list) => Buffer.from(list.flat()));

test('pieces are decoded as the whole would be, whatever lies where they meet', async () => {
  await fc.assert(
    fc.asyncProperty(seams, fc.nat({ max: 12 }), async (seam, before) => {
      const bytes = Buffer.alloc(MIB + 64, 'x');
      seam.copy(bytes, MIB - before);
      expect((await decodeText(bytes, never)) === bytes.toString()).toBe(true);
    }),
    { numRuns: 100 },
  );
});

test('nothing but bytes that go on with a character are decoded as well', async () => {
  const bytes = Buffer.alloc(2 * MIB + 5, 0x80);
  expect((await decodeText(bytes, never)) === bytes.toString()).toBe(true);
});

test('stops between two pieces when nobody waits for it', async () => {
  const reason = new Error('gone');
  const decoding = decodeText(Buffer.alloc(2 * MIB, 'é'), { signal: AbortSignal.abort(reason) });
  await expect(decoding).rejects.toBe(reason);
});
