/** How a word on the command line is resolved, with a list that a worker would return. */
import { expect, test } from 'vitest';

import type { Bus } from '#contract';
import { findSandboxes } from './find-sandboxes.ts';

const A = '3f2a0000-0000-4000-8000-000000000001';
const B = '3f2b0000-0000-4000-8000-000000000002';
const C = '91bc0000-0000-4000-8000-000000000003';
const GONE = '77770000-0000-4000-8000-000000000004';

function busWith(sandboxes: object[]): { bus: Bus; asked: string[] } {
  const asked: string[] = [];
  const bus = {
    call: async (functionId: string) => {
      asked.push(functionId);
      return { sandboxes };
    },
  } as unknown as Bus;
  return { bus, asked };
}

const living = [
  { sandbox_id: A, name: 'lab' },
  { sandbox_id: B, name: '91' },
  { sandbox_id: C, name: null },
];

test.each([
  [['lab'], [A]],
  [['3f2b'], [B]],
  [
    ['91bc', 'lab', '3f2a'],
    [C, A],
  ],
  // A name wins over the beginning of an id.
  [['91'], [B]],
])('%j selects %j', async (words, ids) => {
  expect(await findSandboxes(busWith(living).bus, words)).toEqual(ids);
});

test('a whole id is passed on without a lookup: the worker reports how the sandbox ended', async () => {
  const { bus, asked } = busWith([]);
  expect(await findSandboxes(bus, [GONE])).toEqual([GONE]);
  expect(asked).toEqual([]);
});

test('an ambiguous name or prefix is refused with all matches', async () => {
  await expect(findSandboxes(busWith(living).bus, ['lab', '3f2'])).rejects.toThrow(
    `"3f2" matches 2 sandboxes; give more of the id:\n  ${A}  lab\n  ${B}  91`,
  );
  const twins = [A, B].map((sandbox_id) => ({ sandbox_id, name: 'twin' }));
  await expect(findSandboxes(busWith(twins).bus, ['twin'])).rejects.toThrow('"twin" matches 2 sandboxes');
});

test.each(['', 'none', '3F2A', '%'])('%j matches no sandbox', async (word) => {
  await expect(findSandboxes(busWith(living).bus, [word])).rejects.toThrow(`no sandbox has the name or id "${word}"`);
});
