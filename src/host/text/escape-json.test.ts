import fc from 'fast-check';
import { expect, test } from 'vitest';

import { rounds } from '#testing/basics';
import { escapeJson } from './escape-json.ts';

const never = { signal: new AbortController().signal };
const PIECE_BYTES = 131_072;

const escaped = async (text: string) => Buffer.concat(await escapeJson(Buffer.from(text), never)).toString();
const expected = (text: string) => JSON.stringify(text).slice(1, -1);

const ascii = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code));

test.each([
  ['nothing', ''],
  ['every character of ASCII', ascii.join('')],
  ['every character of ASCII, each alone among plain ones', ascii.join('plain text of some length')],
  ['characters of every length', 'aé日😀\u007f\u0080\u07ff\u0800\uffff\u{10000}\u{10ffff}\ufeff'],
  ['what ends lines in some languages', '\u2028\u2029\u0085'],
  ['more than a piece of what grows most', '\u0001'.repeat(PIECE_BYTES + 1)],
])('%s is escaped as JSON.stringify does', async (_, text) => {
  expect(await escaped(text)).toBe(expected(text));
});

test('any text is escaped as JSON.stringify does', async () => {
  const piece = fc.oneof(
    fc.constantFrom(...ascii),
    fc.string({ unit: 'binary' }),
    fc.constant('plain text, no escape'),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 40, size: 'max' }), async (pieces) => {
      const text = pieces.join('');
      expect(await escaped(text)).toBe(expected(text));
    }),
    { numRuns: rounds(500, 2000, 20_000) },
  );
});

test('pieces meet anywhere, also inside a character', async () => {
  for (let before = 0; before < 6; before++) {
    const text = `${'x'.repeat(PIECE_BYTES - before)}"é日😀\n${'y'.repeat(PIECE_BYTES)}\\`;
    expect((await escaped(text)) === expected(text)).toBe(true);
  }
});

test('two texts at the same time do not meet', async () => {
  const texts = ['a"\n', 'ü\\\t'].map((line) => line.repeat(2_000_000));
  const both = await Promise.all(texts.map(escaped));
  expect(both.map((text, at) => text === expected(texts[at]!))).toEqual([true, true]);
});

test('stops between two pieces after its caller left', async () => {
  const reason = new Error('gone');
  const escaping = escapeJson(Buffer.alloc(8 << 20, 'x'), { signal: AbortSignal.abort(reason) });
  await expect(escaping).rejects.toBe(reason);
});
