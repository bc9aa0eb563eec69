import fc from 'fast-check';
import { expect, test } from 'vitest';

import { rounds } from '#testing/basics';
import { EncodedObject } from '#protocol';
import { LARGE_BYTES, textContent } from './text-content.ts';

const never = { signal: new AbortController().signal };
const MIB = 1 << 20;

/** The content as a reader gets it, and its JSON on the wire. */
async function seen(bytes: Buffer): Promise<{ text: string; json: string }> {
  const content = await textContent(bytes, never);
  if (typeof content === 'string') return { text: content, json: JSON.stringify({ content }) };
  const answer = new EncodedObject({ content: '' }, 'content', content);
  return { text: answer.decode().content, json: Buffer.concat(answer.parts()).toString() };
}

const decoded = (bytes: Buffer) => ({ text: bytes.toString(), json: JSON.stringify({ content: bytes.toString() }) });

/** Characters of every length, and invalid bytes. */
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
      const content = await textContent(bytes, never);
      expect(typeof content === 'object' && content.decode() === bytes.toString()).toBe(true);
    }),
    { numRuns: rounds(50, 150, 1500) },
  );
});

test.each([
  ['plain text', Buffer.alloc(LARGE_BYTES, 'some "text"\r\n')],
  ['text beyond ASCII', Buffer.alloc(LARGE_BYTES + 1, 'süß 日本 😀 \u2028\n')],
  ['a byte order mark', Buffer.from(`\uFEFF${'x'.repeat(LARGE_BYTES)}`)],
  ['no text at all', Buffer.alloc(LARGE_BYTES, 0xff)],
  ['nothing but continuation bytes', Buffer.alloc(2 * MIB + 5, 0x80)],
  ['bytes of control', Buffer.alloc(LARGE_BYTES, Buffer.from(Array.from({ length: 33 }, (_, code) => code)))],
])(
  '%s is the same to a reader and on the wire, just below the size from which it is kept as well',
  async (_, bytes) => {
    const below = bytes.subarray(0, LARGE_BYTES - 1);
    expect(sameText(await seen(bytes), decoded(bytes))).toBe(true);
    expect(sameText(await seen(below), decoded(below))).toBe(true);
    expect([typeof (await textContent(bytes, never)), typeof (await textContent(below, never))]).toEqual([
      'object',
      'string',
    ]);
  },
);

test('stops between two pieces after its caller left', async () => {
  const gone = { signal: AbortSignal.abort(new Error('gone')) };
  await expect(textContent(Buffer.alloc(2 * MIB, 0xff), gone)).rejects.toThrow('gone');
});

/** Not by `toEqual`, which would print megabytes. */
function sameText(one: { text: string; json: string }, other: { text: string; json: string }): boolean {
  return one.text === other.text && one.json === other.json;
}
