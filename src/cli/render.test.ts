import { expect, test } from 'vitest';

import { painter } from './colour.ts';
import { duration, table, visible } from './render.ts';

test('columns are as wide as their widest cell, and lines end without spaces', () => {
  expect(
    table(
      ['ID', 'WHAT'],
      [
        ['a::long', 'x'],
        ['b', ''],
        ['c', 'some words'],
      ],
    ),
  ).toBe('ID       WHAT\na::long  x\nb\nc        some words\n');
});

test('a table without rows prints only its header', () => {
  expect(table(['ID', 'WHAT'], [])).toBe('ID  WHAT\n');
});

test('a cell cannot contain newlines or escape sequences', () => {
  expect(table(['A', 'B'], [['x\ny\r\tz', '\u001b]0;title\u0007\u009b31mred\u200b']])).toBe(
    'A      B\nx y z   ]0;title 31mred\n',
  );
  expect(visible('plain – ünïcode 漢字 🙂')).toBe('plain – ünïcode 漢字 🙂');
});

test('cli.C04 a table wider than the terminal wraps its cells and loses no text', () => {
  const words = 'Read one file, or a range of its lines, and return it with its version.';
  const rows = [
    ['coder::read-file', 'read', words],
    ['3f2a91bc-1234-4abc-8def-0123456789ab', 'execute', ''],
  ];
  const text = table(['FUNCTION', 'EFFECT', 'SUMMARY'], rows, { width: 80 });
  expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
  expect(text).toContain('3f2a91bc-1234-4abc-8def-0123456789ab  execute\n');
  const summary = text.split('\n').map((line) => line.slice(47).trim());
  expect(summary.join(' ')).toContain(words);
  expect(table(['A'], [['x'.repeat(100)]], { width: 80 })).toBe(`A\n${'x'.repeat(80)}\n${'x'.repeat(20)}\n`);
});

test('cli.C03 a state has its colour on a terminal, and its column keeps its width', () => {
  const look = { paint: painter({ isTTY: true }, { TERM: 'xterm' }) };
  expect(table(['STATUS', 'X'], [['ok', 'a']], look)).toBe(
    '\u001b[1mSTATUS\u001b[0m  \u001b[1mX\u001b[0m\n\u001b[32mok\u001b[0m      a\n',
  );
});

test.each([
  ['a pipe', { isTTY: false }, {}],
  ['NO_COLOR', { isTTY: true }, { NO_COLOR: '1' }],
  ['a terminal without any', { isTTY: true }, { TERM: 'dumb' }],
])('cli.C03 %s gets no colours', (_, stream, env) => {
  expect(painter(stream, env)('red', 'text')).toBe('text');
});

test('durations are in the largest whole unit', () => {
  expect([0, 119_000, 120_000, 7_199_000, 7_200_000, 200_000_000].map(duration)).toEqual([
    ...['0s', '119s', '2m', '119m', '2h', '2d'],
  ]);
});
