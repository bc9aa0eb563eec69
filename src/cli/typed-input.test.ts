import { expect, test } from 'vitest';

import { DetachKeys } from './typed-input.ts';

function typed(...pieces: string[]) {
  const keys = new DetachKeys();
  return pieces.map((piece) => {
    const { passed, isLeaving } = keys.take(Buffer.from(piece));
    return isLeaving ? `${passed.toString()}|left` : passed.toString();
  });
}

test.each([
  [['abc'], ['abc']],
  [['a\x10\x11b'], ['a|left']],
  [
    ['a\x10', '\x11'],
    ['a', '|left'],
  ],
  [
    ['a\x10', 'b'],
    ['a', '\x10b'],
  ],
  [['\x10\x10\x11'], ['\x10|left']],
  [['\x11\x11'], ['\x11\x11']],
])('live.D6 %j passes on %j', (pieces, passed) => {
  expect(typed(...pieces)).toEqual(passed);
});
