import { expect, test } from 'vitest';

import { KeptOutput } from './kept-output.ts';

test.each([
  [0, 'abcdef', '', 6],
  [5, 'abcdef', 'abcde', 1],
  [6, 'abcdef', 'abcdef', 0],
  [7, 'abcdef', 'abcdef', 0],
])('of a cap of %i, %j keeps %j', (maxBytes, text, kept, droppedBytes) => {
  for (const size of [1, 2, 4, 6]) {
    const output = new KeptOutput(maxBytes);
    for (let at = 0; at < text.length; at += size) output.add(Buffer.from(text.slice(at, at + size)));
    expect({ kept: output.bytes.toString(), dropped: output.droppedBytes, isTruncated: output.isTruncated }).toEqual({
      kept,
      dropped: droppedBytes,
      isTruncated: droppedBytes > 0,
    });
  }
});

test('a view stays as it was while more is added', () => {
  const output = new KeptOutput(100_000);
  output.add(Buffer.from('first '));
  const view = output.bytes;
  for (let round = 0; round < 1000; round++) output.add(Buffer.from('more and more '));
  output.trim();
  expect(view.toString()).toBe('first ');
  expect(output.bytes.toString()).toBe(`first ${'more and more '.repeat(1000)}`);
});

test('a trimmed block has no room to spare', () => {
  const output = new KeptOutput(1 << 20);
  output.add(Buffer.alloc(5000, 'x'));
  output.add(Buffer.alloc(1, 'x'));
  output.trim();
  expect(output.bytes.buffer.byteLength).toBe(5001);
});
