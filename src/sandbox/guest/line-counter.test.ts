import { expect, test } from 'vitest';

import { LineCounter } from './line-counter.ts';

const scope = { signal: new AbortController().signal };

test('lines are numbered from 1, by the newlines before them', async () => {
  const counter = new LineCounter(Buffer.from('a\n\nb\nc'));
  const lines = [];
  for (const offset of [0, 1, 2, 3, 5]) lines.push(await counter.lineAt(offset, scope));
  expect(lines).toEqual([1, 1, 2, 3, 4]);
});

test('a text of nothing but newlines is counted while others are served, and a caller that cancels ends it', async () => {
  const control = new AbortController();
  const text = Buffer.alloc(4 * 2 ** 20, '\n');
  expect(await new LineCounter(text).lineAt(text.length, scope)).toBe(text.length + 1);
  const counting = new LineCounter(text).lineAt(text.length, { signal: control.signal });
  setImmediate(() => control.abort());
  await expect(counting).rejects.toMatchObject({ name: 'AbortError' });
});
