import { expect, test } from 'vitest';

import { printFailure, printJson, printText } from './print.ts';

/** The text that a stream received. */
function printed(print: (stream: { write(text: string): void; isTTY?: boolean }) => void, isTTY: boolean): string {
  let all = '';
  print({ isTTY, write: (text) => void (all += text) });
  return all;
}

const HOSTILE = 'a\u009b31m\u202eb\u001b[2J\u007f\u200b\u2028\r\u{e0001}z';

test('escapes control characters on a terminal, and the output is still the same JSON', () => {
  const text = printed((stream) => printJson({ [HOSTILE]: HOSTILE }, stream), true);
  expect(text).toMatch(/^[\n -~]+$/);
  expect(JSON.parse(text)).toEqual({ [HOSTILE]: HOSTILE });
});

test('output of commands keeps newlines, tabs and non-Latin text', () => {
  const text = 'one\ttwo\r\nthree\n– ünïcode 漢字 🙂\n';
  expect(printed((stream) => printText(text, stream), true)).toBe(text);
  expect(printed((stream) => printText('50%\rdone\u001b[2J', stream), true)).toBe('50%\\u000ddone\\u001b[2J');
});

test('output to a pipe is not escaped', () => {
  expect(printed((stream) => printText(HOSTILE, stream), false)).toBe(HOSTILE);
  expect(printed((stream) => printJson(HOSTILE, stream), false)).toBe(`${JSON.stringify(HOSTILE)}\n`);
});

test('cli.C05 an error is one line with its code, then the help, without escape sequences', () => {
  const failure = { code: 'S004', message: `gone ${HOSTILE}`, help: ['Create another.'] };
  expect(printed((stream) => printFailure({ message: 'x' }, stream), false)).toBe('Error: x\n');
  const shown = printed((stream) => printFailure(failure, stream), true).replace('\u001b[31mError:\u001b[0m', 'Error:');
  expect(shown).toMatch(/^Error: \[S004\] gone [ -~]+\n {2}Create another\.\n$/);
});
