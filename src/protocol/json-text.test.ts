import fc from 'fast-check';
import { expect, test } from 'vitest';

import type { Frame } from './frames.ts';
import { jsonParts, withJson, withText } from './json-text.ts';
import { encodeFrame } from './link.ts';

/** A text held as JSON in two pieces. Whether it was decoded shows. */
function held(text: string, cutAt = 1) {
  const json = Buffer.from(JSON.stringify(text)).subarray(1, -1);
  const pieces = [json.subarray(0, cutAt), json.subarray(cutAt)];
  let times = 0;
  return { decode: () => (times++, text), json: pieces, decoded: () => times };
}

const written = (value: unknown) => Buffer.concat(jsonParts(value)!).toString();

const text = 'a "line"\r\nén 日本 😀 \u2028 \u0001';
const frameOf = (result: unknown): Frame => ({
  type: 'invocationresult',
  invocation_id: 'i',
  function_id: 'f',
  result,
  traceparent: undefined,
  baggage: 'b',
});

test('what is written is what JSON.stringify would give, byte by byte, and the text is not decoded for it', () => {
  const others = fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 });
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.nat(9), others, others, (content, cutAt, before, after) => {
      const plain = { ...before, left: undefined, content, out: () => {}, ...after };
      const form = held(content, cutAt);
      const value = withText({ ...plain, content: '' }, 'content', form);
      expect(written(value)).toBe(JSON.stringify(plain));
      expect(String(encodeFrame(frameOf(value)))).toBe(JSON.stringify(frameOf(plain)));
      expect(form.decoded()).toBe(0);
    }),
  );
});

test('a value of any kind is held as a text is', () => {
  const matches = [{ path: 'é', line: 1 }, null];
  const json = Buffer.from(JSON.stringify(matches));
  const held = { decode: () => matches, json: [json.subarray(0, 3), json.subarray(3)] };
  const value = withJson({ a: 1, matches: [] as unknown[], z: '' }, 'matches', held);
  expect(written(value)).toBe(JSON.stringify({ a: 1, matches, z: '' }));
  expect(value.matches).toBe(matches);
});

test('only what holds a text becomes bytes; a text that is a string stays one', () => {
  const plain = withText({ path: 'p', content: '' }, 'content', text);
  expect(plain).toEqual({ path: 'p', content: text });
  expect([plain, { plain }, null, text].map((value) => jsonParts(value))).toEqual(Array(4).fill(undefined));
  expect([encodeFrame(frameOf(plain)), encodeFrame({ type: 'ping' })]).toEqual([
    JSON.stringify(frameOf(plain)),
    '{"type":"ping"}',
  ]);
});

test('what stands around a text is in one part before it and one behind', () => {
  const form = held(text);
  const value = withText({ path: 'p', content: '', size: 3, mode: 4 }, 'content', form);
  const [before, after] = ['{"path":"p","content":"', '","size":3,"mode":4}'].map((part) => Buffer.from(part));
  expect(jsonParts(value)).toEqual([before, ...form.json, after]);
});

test('to whoever reads it, it is an ordinary object, decoded once', () => {
  const form = held(text);
  const value = withText({ path: 'p', content: '', size: 3 }, 'content', form);
  const plain = { path: 'p', content: text, size: 3 };
  expect([value, { ...value }, structuredClone(value), JSON.parse(JSON.stringify(value)), [value.content]]).toEqual([
    plain,
    plain,
    plain,
    plain,
    [text],
  ]);
  expect(Object.keys(value)).toEqual(['path', 'content', 'size']);
  expect(form.decoded()).toBe(1);
});

test.each<[string, (value: { content?: string }) => void, object]>([
  ['written', (value) => (value.content = 'new'), { path: 'p', content: 'new' }],
  ['assigned', (value) => Object.assign(value, { content: 'new' }), { path: 'p', content: 'new' }],
  ['defined', (value) => Object.defineProperty(value, 'content', { value: 'new' }), { path: 'p', content: 'new' }],
  ['removed', (value) => delete value.content, { path: 'p' }],
  ['removed and written', (value) => (delete value.content, (value.content = 'new')), { path: 'p', content: 'new' }],
])('a field that was %s since counts as it is', (_, change, changed) => {
  const value: { content?: string } = withText({ path: 'p', content: '' }, 'content', held(text));
  change(value);
  expect(JSON.parse(written(value))).toEqual(changed);
  expect(value).toEqual(changed);
});

test.each<[string, unknown]>([
  ['a BigInt', 1n],
  ['something nested too deep', JSON.parse('['.repeat(100_000) + ']'.repeat(100_000))],
])('%s beside the text has no JSON', (_, other) => {
  expect(encodeFrame(frameOf(withText({ content: '', other }, 'content', held(text))))).toBeUndefined();
});

test('an object in itself has no JSON', () => {
  const value: Record<string, unknown> = withText({ content: '', self: {} }, 'content', held(text));
  value.self = value;
  expect(encodeFrame(frameOf(value))).toBeUndefined();
});

test('what is written to an object made from one that holds a text is its own', () => {
  const holder = withText({ content: '' }, 'content', held(text));
  const made = Object.create(holder) as { content: string };
  made.content = 'other';
  expect([made.content, Object.keys(made), holder.content]).toEqual(['other', ['content'], text]);
});
