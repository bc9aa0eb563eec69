import { expect, test } from 'vitest';

import { makePrincipal } from '#contract';
import { codeOf, MAX_RECENT_CALLS, RecentCalls } from './recent-calls.ts';

const refused = (id: string) => ({
  id,
  functionId: 'a::b',
  namespace: 'lab',
  principal: makePrincipal('local', 'me'),
  code: 'function_not_found',
  outcome: { kind: 'failed' as const, text: 'function_not_found' },
});

test('keeps the last thousand calls, oldest first', () => {
  const recent = new RecentCalls();
  for (let i = 1; i <= MAX_RECENT_CALLS + 5; i += 1) recent.addRefused(refused(`call ${i}`));

  const rows = recent.after(0);
  expect(rows).toHaveLength(MAX_RECENT_CALLS);
  expect([rows[0]?.id, rows.at(-1)?.id, recent.latest]).toEqual(['call 6', 'call 1005', 1005]);
});

test('returns the calls after a sequence number; all of them for a number of an earlier engine', () => {
  const recent = new RecentCalls();
  for (const id of ['one', 'two', 'three']) recent.addRefused(refused(id));

  const idsAfter = (seq: number) => recent.after(seq).map(({ id }) => id);
  expect([idsAfter(2), idsAfter(3), idsAfter(99)]).toEqual([['three'], [], ['one', 'two', 'three']]);
});

test('keeps a namespace of up to 512 characters', () => {
  const recent = new RecentCalls();
  for (const length of [3, 512, 513]) recent.addRefused({ ...refused('one'), namespace: 'x'.repeat(length) });
  expect(recent.after(0).map(({ namespace }) => namespace?.length)).toEqual([3, 512, undefined]);
});

test.each([
  [
    'a code inside the text',
    { code: 'invocation_failed', message: 'handler error: {"code":"C211","message":"gone"}' },
    'C211',
  ],
  ['a body with its own code', { code: 'TIMEOUT', message: 'late' }, 'TIMEOUT'],
  [
    'a text too long to search',
    { code: 'invocation_failed', message: `{"code":"C1","message":"${'x'.repeat(70_000)}"}` },
    'invocation_failed',
  ],
  ['a code too long to keep', { code: 'x'.repeat(65), message: '' }, 'UNKNOWN'],
  ['anything else', 'oops', 'UNKNOWN'],
])('the code of %s', (_, error, code) => {
  expect(codeOf(error)).toBe(code);
});
