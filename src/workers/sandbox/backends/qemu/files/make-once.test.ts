/** Items of the cache: made once, complete or not at all. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as passed } from 'node:timers/promises';

import { expect, test } from 'vitest';

import { tempDir } from '#testing';
import { makeOnce } from './make-once.ts';

const waiter = () => ({ signal: AbortSignal.timeout(30_000) });

test('many callers at once get the one that is made', async () => {
  await using dir = await tempDir();
  let made = 0;
  const make = async (draft: string) => {
    made++;
    await passed(20);
    writeFileSync(draft, 'whole');
  };
  const paths = await Promise.all([1, 2, 3].map(() => makeOnce(dir.path('deep/thing'), waiter(), make)));
  await makeOnce(dir.path('deep/thing'), waiter(), make);
  expect([paths, made]).toEqual([Array(3).fill(dir.path('deep/thing')), 1]);
  expect([readFileSync(dir.path('deep/thing'), 'utf8'), readdirSync(dir.path('deep'))]).toEqual(['whole', ['thing']]);
});

test('what could not be made is not there, and is made by the next', async () => {
  await using dir = await tempDir();
  const failing = makeOnce(dir.path('thing'), waiter(), async (draft) => {
    mkdirSync(draft);
    writeFileSync(`${draft}/half`, '');
    throw new Error('no more disk');
  });
  await expect(failing).rejects.toThrow('no more disk');
  expect(readdirSync(dir.root)).toEqual([]);
  await makeOnce(dir.path('thing'), waiter(), async (draft) => writeFileSync(draft, ''));
  expect(existsSync(dir.path('thing'))).toBe(true);
});

test('the draft of a process that died is removed', async () => {
  await using dir = await tempDir({ '.new-999999999-1-abc/half': '', '.new-notes': '' });
  await makeOnce(dir.path('thing'), waiter(), async (draft) => writeFileSync(draft, ''));
  expect(readdirSync(dir.root)).toEqual(['thing']);
});
