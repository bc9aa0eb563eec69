import fc from 'fast-check';
import { expect, test } from 'vitest';

import { applyDelta, deltaOf } from './delta.ts';

const text = fc
  .array(fc.constantFrom('a\n', 'b\n', 'ü'.repeat(700), 'c'.repeat(1500)))
  .map((parts) => Buffer.from(parts.join('')));

test('a delta applied to the former content returns the new content', () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      const delta = deltaOf(before, after);
      expect(delta === undefined || applyDelta(before, delta).equals(after)).toBe(true);
    }),
  );
});

test('a small edit of a large file has a small delta; a rewritten or non-text file has none', () => {
  const before = Buffer.from('line\n'.repeat(100_000));
  const after = Buffer.concat([before.subarray(0, 250_000), Buffer.from('new\n'), before.subarray(250_000)]);
  expect(JSON.stringify(deltaOf(before, after)).length).toBeLessThan(100);
  expect(deltaOf(before, Buffer.from('other\n'.repeat(10_000)))).toBeUndefined();
  expect(deltaOf(Buffer.alloc(0), Buffer.from([0xff]))).toBeUndefined();
});
