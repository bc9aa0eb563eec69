import { expect, test } from 'vitest';

import { stripAnsi, unfinishedSequenceAt } from './strip-ansi.ts';

test.each([
  ['\x1b[1;31mred\x1b[0m', 'red'],
  ['\x1b]8;;http://x\x1b\\link\x1b]8;;\x07', 'link'],
  ['a\x1b(Bb\x1b=c\x1bMd\x1b7e', 'abcde'],
  ['\x1b[?25lhidden\x1b[2J\x1b[10;20H', 'hidden'],
  ['\x1bPq#0;2\x1b\\after', 'after'],
  ['\x1b]0;never closed\nnext line', '\x1b]0;never closed\nnext line'],
  ['no escape: \u009B31m', 'no escape: \u009B31m'],
])('live.D17 %j is %j', (text, plain) => {
  expect(stripAnsi(text)).toBe(plain);
});

test('live.D17 a sequence that has not ended yet is found at every cut, and nothing is found after its end', () => {
  for (const sequence of ['\x1b[38;5;10m', '\x1b]0;title\x07', '\x1b(B', '\x1bPq\x1b\\']) {
    for (let cut = 1; cut < sequence.length; cut++) {
      expect(unfinishedSequenceAt(`text ${sequence.slice(0, cut)}`)).toBe(5);
    }
    expect(unfinishedSequenceAt(`text ${sequence}`)).toBe(5 + sequence.length);
  }
  expect(unfinishedSequenceAt(`\x1b[${'1;'.repeat(500)}`)).toBe(1002);
});
