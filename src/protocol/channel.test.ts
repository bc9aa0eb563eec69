import fc from 'fast-check';
import { expect, test } from 'vitest';

import { rounds } from '#testing/basics';
import { CHANNEL_CHUNK_BYTES, channelPath, ChannelRefSchema, chunksOf } from './channel.ts';

test('bytes are cut into chunks that every peer accepts, and none is lost', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4 * CHANNEL_CHUNK_BYTES }), (length) => {
      const bytes = Uint8Array.from({ length }, (_, n) => n % 251);
      const chunks = [...chunksOf(bytes)] as Uint8Array[];
      expect(Buffer.concat(chunks).equals(bytes)).toBe(true);
      expect(chunks.slice(0, -1).every((chunk) => chunk.length === CHANNEL_CHUNK_BYTES)).toBe(true);
      expect(chunks.at(-1)!.length).toBeLessThanOrEqual(CHANNEL_CHUNK_BYTES);
    }),
    { numRuns: rounds(30, 90, 900) },
  );
});

test('a text is one message however long it is', () => {
  const text = 'x'.repeat(3 * CHANNEL_CHUNK_BYTES);
  expect([...chunksOf(text)]).toEqual([text]);
  expect([...chunksOf('')]).toEqual(['']);
});

test('the path of an end carries its key, encoded', () => {
  const ref = { channel_id: 'a/b', access_key: 'k&dir=write', direction: 'read' } as const;
  expect(channelPath(ref)).toBe('/ws/channels/a%2Fb?key=k%26dir%3Dwrite&dir=read');
});

test.each([{}, { channel_id: 'a', access_key: 'b' }, { channel_id: 'a', access_key: 'b', direction: 'both' }, null])(
  '%j is not a reference',
  (value) => {
    expect(ChannelRefSchema.safeParse(value).success).toBe(false);
  },
);
