import { expect, test } from 'vitest';

import { defineErrors, Failure } from './define-errors.ts';

const { fail, table } = defineErrors({
  C213: {
    meaning: 'Too large.',
    http: 413,
    message: (d: { path: string; limit: number }) => `${d.path} is over ${d.limit}`,
    fix: (d: { path: string; limit: number }) => (d.limit > 0 ? { max: d.limit } : undefined),
  },
  C500: { meaning: 'A bug.', http: 500, message: (_: object) => 'internal error' },
});

test('a failure is made of its row and the facts', () => {
  const failure = fail('C213', { path: 'a.txt', limit: 10 });
  expect(failure).toBeInstanceOf(Failure);
  expect(failure).toBeInstanceOf(Error);
  expect(failure.toFields()).toEqual({ code: 'C213', message: 'a.txt is over 10', fix: { max: 10 } });
  expect([failure.name, table.C213.http]).toEqual(['Failure', 413]);
});

test('a failure has no fix if its row has none, or none for these facts', () => {
  expect(fail('C500', {}).toFields()).toEqual({ code: 'C500', message: 'internal error' });
  expect(fail('C213', { path: 'a', limit: 0 }).toFields()).toEqual({ code: 'C213', message: 'a is over 0' });
});

test('the cause is kept for the log and is not part of the answer', () => {
  const cause = new Error('/home/secret');
  const failure = fail('C500', {}, cause);
  expect(failure.cause).toBe(cause);
  expect(JSON.stringify(failure.toFields())).not.toContain('secret');
  expect('cause' in fail('C500', {})).toBe(false);
});

test('an unknown code, missing details and wrong ones do not compile', () => {
  const attempts = [
    // @ts-expect-error -- there is no such code
    () => fail('C999', {}),
    // @ts-expect-error -- the limit is missing
    () => fail('C213', { path: 'a' }),
    // @ts-expect-error -- a limit is a number
    () => fail('C213', { path: 'a', limit: '10' }),
    // @ts-expect-error -- details are required
    () => fail('C500'),
  ];
  expect(attempts).toHaveLength(4);
});
