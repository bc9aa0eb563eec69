import fc from 'fast-check';
import { expect, test } from 'vitest';

import { decoded, EncodedObject } from './encoded-object.ts';
import type { Frame } from './frames.ts';
import { encodeFrame } from './link.ts';

/** A value as JSON in two pieces; records whether it was decoded. */
function inPieces(value: unknown, cutAt = 1) {
  const json = Buffer.from(JSON.stringify(value));
  let times = 0;
  return {
    decode: () => (times++, value),
    json: [json.subarray(0, cutAt), json.subarray(cutAt)],
    decoded: () => times,
  };
}

const text = 'a "line"\r\nén 日本 😀 \u2028 \u0001';
const frameOf = (result: unknown): Frame => ({
  type: 'invocationresult',
  invocation_id: 'i',
  function_id: 'f',
  result,
  traceparent: undefined,
  baggage: 'b',
});

test('what is written is what JSON.stringify would give, byte by byte, and the field is not decoded for it', () => {
  const others = fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 });
  const contents = fc.oneof(fc.string({ unit: 'binary' }), fc.jsonValue({ maxDepth: 2 }));
  fc.assert(
    fc.property(contents, fc.nat(9), others, others, (content, cutAt, before, after) => {
      const plain = { ...before, left: undefined, content, out: () => {}, ...after, content_too: 1 };
      const form = inPieces(plain.content, cutAt);
      const value = new EncodedObject(plain, 'content', form);
      expect(Buffer.concat(value.parts()).toString()).toBe(JSON.stringify(plain));
      expect(String(encodeFrame(frameOf(value)))).toBe(JSON.stringify(frameOf(plain)));
      expect(form.decoded()).toBe(0);
    }),
  );
});

test('what surrounds the field is in one part before it and one behind', () => {
  const form = inPieces(text);
  const value = new EncodedObject({ path: 'p', content: '', size: 3, mode: 4 }, 'content', form);
  const [before, after] = ['{"path":"p","content":', ',"size":3,"mode":4}'].map((part) => Buffer.from(part));
  expect(value.parts()).toEqual([before, ...form.json, after]);
});

test('it is decoded once, with the field in its position', () => {
  const form = inPieces(text);
  const value = new EncodedObject({ path: 'p', content: '', size: 3 }, 'content', form);
  const plain = { path: 'p', content: text, size: 3 };
  expect([decoded(value), JSON.parse(JSON.stringify(value)), decoded(plain), decoded(null)]).toEqual([
    plain,
    plain,
    plain,
    null,
  ]);
  expect(Object.keys(value.decode())).toEqual(['path', 'content', 'size']);
  expect(form.decoded()).toBe(1);
});

test.each<[string, unknown]>([
  ['a BigInt', 1n],
  ['something nested too deep', JSON.parse('['.repeat(100_000) + ']'.repeat(100_000))],
])('%s beside the field has no JSON', (_, other) => {
  expect(encodeFrame(frameOf(new EncodedObject({ content: '', other }, 'content', inPieces(text))))).toBeUndefined();
});
