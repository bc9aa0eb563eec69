import { expect, test } from 'vitest';

import { lineReader } from './reads.ts';

const line = lineReader({ line: ['path'] });

test.each([
  ['one word of visible ASCII', 'src/a-b_c.ts', 'src/a-b_c.ts'],
  ['200 characters', 'x'.repeat(200), 'x'.repeat(200)],
  ['201 characters', 'x'.repeat(201), `${'x'.repeat(200)} …`],
  ['a space', 'a  b', 'a b'],
  ['a line break at the end', 'a\n', 'a '],
  ['a letter beyond ASCII', 'ä', 'ä'],
  ['a letter beyond Latin-1', '→', '→'],
  ['a bidirectional character', 'a\u202eb', 'ab'],
  ['a control character', 'a\u007fb', 'ab'],
])('the line of a request whose only word has %s', (_, path, shown) => {
  expect(line({ path })).toBe(shown);
});

test('numbers and booleans are words too', () => {
  expect([line({ path: 7 }), line({ path: false }), line({ path: '' })]).toEqual(['7', 'false', undefined]);
});
