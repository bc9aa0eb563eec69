import { expect, test } from 'vitest';
import { z } from 'zod';

import { describeIssues } from './issue-text.ts';

const schema = z.object({
  path: z.string().min(1),
  limit: z.int().min(1).max(100).optional(),
  mode: z.enum(['fast', 'exact']).optional(),
  tags: z.array(z.string()).max(2).optional(),
  op: z
    .discriminatedUnion('kind', [
      z.object({ kind: z.literal('add'), n: z.number() }),
      z.object({ kind: z.literal('drop') }),
    ])
    .optional(),
  either: z.union([z.string(), z.number()]).optional(),
  deep: z.object({ list: z.array(z.object({ x: z.boolean() })) }).optional(),
  when: z.iso.date().optional(),
});

function describe(payload: unknown, within: z.ZodType = schema): string {
  const parsed = within.safeParse(payload);
  return parsed.success ? 'fits' : describeIssues(parsed.error, payload);
}

test.each([
  [{ path: 'a' }, 'fits'],
  [{}, 'missing field `path`'],
  [{ path: null }, '`path` must be a string (got null)'],
  [{ path: 7 }, '`path` must be a string (got a number)'],
  [{ path: ['a'] }, '`path` must be a string (got an array)'],
  [{ path: {} }, '`path` must be a string (got an object)'],
  [{ path: true }, '`path` must be a string (got a boolean)'],
  [{ path: '' }, '`path` must be at least 1 (got a string)'],
  [{ path: 'a', limit: 0 }, '`limit` must be at least 1 (got 0)'],
  [{ path: 'a', limit: 101 }, '`limit` must be at most 100 (got 101)'],
  [{ path: 'a', limit: 1.5 }, '`limit` must be an integer (got a number)'],
  [{ path: 'a', limit: '5' }, '`limit` must be a number (got a string)'],
  [{ path: 'a', mode: 'slow' }, '`mode` must be one of "fast", "exact" (got "slow")'],
  [{ path: 'a', mode: 3 }, '`mode` must be one of "fast", "exact" (got 3)'],
  [{ path: 'a', mode: null }, '`mode` must be one of "fast", "exact" (got null)'],
  [{ path: 'a', mode: {} }, '`mode` must be one of "fast", "exact" (got an object)'],
  [{ path: 'a', tags: ['1', '2', '3'] }, '`tags` must be at most 2 (got an array)'],
  [{ path: 'a', tags: ['1', 2] }, '`tags[1]` must be a string (got a number)'],
  [{ path: 'a', op: { kind: 'add' } }, 'missing field `op.n`'],
  [
    { path: 'a', op: { kind: 'move' } },
    "`op.kind`: Invalid discriminator value. Expected 'add' | 'drop' (got a string)",
  ],
  [{ path: 'a', either: [] }, '`either` has none of the accepted shapes (got an array)'],
  [{ path: 'a', deep: { list: [{ x: true }, { x: 1 }] } }, '`deep.list[1].x` must be a boolean (got a number)'],
  [{ path: 'a', when: 'soon' }, '`when`: Invalid ISO date'],
  [{ path: 1, limit: 0 }, '`path` must be a string (got a number); `limit` must be at least 1 (got 0)'],
  ['text', 'the payload must be an object (got a string)'],
  [null, 'the payload must be an object (got null)'],
  [[], 'the payload must be an object (got an array)'],
])('%j: %s', (payload, text) => {
  expect(describe(payload)).toBe(text);
});

test('the first three problems are reported, the rest are counted', () => {
  const many = z.array(z.string());
  expect(describe([1, 2, 3, 4, 5], many)).toBe(
    '`[0]` must be a string (got a number); `[1]` must be a string (got a number); `[2]` must be a string (got a number); and 2 more',
  );
});

test('the message does not repeat a long value that was sent', () => {
  expect(describe({ path: 'a', mode: 'x'.repeat(1_000_000) })).toBe(
    '`mode` must be one of "fast", "exact" (got a string)',
  );
});
