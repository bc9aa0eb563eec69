import { expect, test } from 'vitest';

import { sortInTurns } from './sort-in-turns.ts';

const scope = { signal: new AbortController().signal };
const NAMES = ['b', 'a', 'é', '😀', '\uffff', 'B', '', 'aa'];

test.each([0, 1, 8, 2048, 2049, 10_000])('%d names come in the order of their bytes', async (count) => {
  const names = Array.from({ length: count }, (_, i) => `${NAMES[i % NAMES.length]}${(i * 7919) % count}`);
  const sorted = await sortInTurns(names, (name) => name, scope);
  expect(sorted).toEqual(names.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
});

test('others are served meanwhile, and a caller that cancels ends it', async () => {
  const control = new AbortController();
  const names = Array.from({ length: 10_000 }, (_, i) => `${i}`);
  const sorting = sortInTurns(names, (name) => name, { signal: control.signal });
  setImmediate(() => control.abort());
  await expect(sorting).rejects.toMatchObject({ name: 'AbortError' });
});
