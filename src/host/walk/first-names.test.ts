import fc from 'fast-check';
import { expect, test } from 'vitest';

import { rounds } from '#testing/basics';
import { toBytes, type ByteString } from '../text/byte-string.ts';
import { firstNames } from './first-names.ts';
import { NAMES_AT_ONCE } from '../jail/jail-dir.ts';

const never = { signal: new AbortController().signal };

/** A directory that hands out names in batches as a real one does. */
const dirOf = (names: ByteString[]) => ({
  *names() {
    for (let at = 0; at <= names.length; at += NAMES_AT_ONCE) yield names.slice(at, at + NAMES_AT_ONCE);
  },
});

test('keeps the first names in byte order, whatever order and number they come in', async () => {
  const counts = fc.constantFrom(0, 1, 50, NAMES_AT_ONCE, 3 * NAMES_AT_ONCE + 7);
  await fc.assert(
    fc.asyncProperty(counts, fc.nat(20_000), fc.integer({ min: 1, max: 9_999_991 }), async (count, limit, stride) => {
      const names = Array.from({ length: count }, (_, i) => toBytes(String((i * stride) % 9_999_991)));
      const first = await firstNames(dirOf(names), limit + 1, never);
      expect(first).toEqual({ names: names.toSorted().slice(0, limit + 1), total: count });
    }),
    { numRuns: rounds(50, 150, 1500) },
  );
});

test('stops between two batches after its caller left', async () => {
  const names = Array.from({ length: 2 * NAMES_AT_ONCE }, (_, i) => toBytes(String(i)));
  const cancelled = { signal: AbortSignal.abort(new Error('cancelled')) };
  await expect(firstNames(dirOf(names), 10, cancelled)).rejects.toThrow('cancelled');
});
