import { expect, test } from 'vitest';

import { table, visible } from './render.ts';

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

test('a table without rows is its head', () => {
  expect(table(['ID', 'WHAT'], [])).toBe('ID  WHAT\n');
});

test('a cell cannot break its line nor talk to the terminal', () => {
  expect(table(['A', 'B'], [['x\ny\r\tz', '\u001b]0;title\u0007\u009b31mred\u200b']])).toBe(
    'A      B\nx y z   ]0;title 31mred\n',
  );
  expect(visible('plain – ünïcode 漢字 🙂')).toBe('plain – ünïcode 漢字 🙂');
});
