import fc from 'fast-check';
import { expect, test } from 'vitest';

import { BROKEN, END, isData, pack, unpack } from './messages.ts';

const STREAM = '0123456789abcdef';

test('a packed message unpacks unchanged and is not mistaken for JSON', () => {
  const piece = fc.record({
    kind: fc.integer({ min: 0, max: BROKEN }),
    bytes: fc.uint8Array({ maxLength: 300, size: 'max' }).map((bytes) => Buffer.from(bytes)),
  });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2 ** 48 - 1 }), fc.array(piece), (seq, pieces) => {
      const message = pack({ stream: STREAM, seq, pieces });
      expect(isData(message)).toBe(true);
      expect(unpack(message)).toEqual({ stream: STREAM, seq, pieces });
    }),
  );
  expect(isData(Buffer.from('{}'))).toBe(false);
  expect(isData(Buffer.alloc(0))).toBe(false);
});

test('rejects a message that is truncated, too long or of an unknown kind', () => {
  const whole = pack({ stream: STREAM, seq: 1, pieces: [{ kind: END, bytes: Buffer.from('why') }] });
  const head = whole.length - 'why'.length - 5;
  for (let length = 0; length < whole.length; length++)
    expect([length, unpack(whole.subarray(0, length))?.pieces]).toEqual([length, length === head ? [] : undefined]);
  expect(unpack(pack({ stream: STREAM, seq: 1, pieces: [{ kind: BROKEN + 1, bytes: Buffer.alloc(0) }] }))).toBe(
    undefined,
  );
  expect(unpack(pack({ stream: STREAM, seq: 1, pieces: [{ kind: 0, bytes: Buffer.alloc(1_000_000) }] }))).toBe(
    undefined,
  );
});
