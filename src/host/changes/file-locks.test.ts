import { setTimeout as sleep } from 'node:timers/promises';

import fc from 'fast-check';
import { expect, test } from 'vitest';

import { FileLocks } from './file-locks.ts';

test('one at a time for each key, in order of arrival, and others meanwhile', async () => {
  const locks = new FileLocks();
  const events: string[] = [];
  const work = (name: string) => async () => {
    events.push(`${name} begins`);
    await sleep(1);
    events.push(`${name} ends`);
  };
  await Promise.all([locks.run(['a'], work('a1')), locks.run(['a'], work('a2')), locks.run(['b'], work('b1'))]);
  expect(events.filter((event) => event.startsWith('a'))).toEqual(['a1 begins', 'a1 ends', 'a2 begins', 'a2 ends']);
  expect(events.indexOf('b1 begins')).toBeLessThan(events.indexOf('a1 ends'));
});

test('keys are free while nobody holds or waits for any of them, and then work begins at once', async () => {
  const locks = new FileLocks();
  expect(locks.areFree(['a', 'b'])).toBe(true);
  const seen: boolean[] = [];
  const running = locks.run(['a'], async () => void seen.push(locks.areFree(['b', 'a']), locks.areFree(['b'])));
  expect(seen).toEqual([false, true]);
  await running;
  expect(locks.areFree(['a', 'b'])).toBe(true);
});

test('work that fails lets the next one go on, and is told to its own caller only', async () => {
  const locks = new FileLocks();
  const failing = locks.run(['a'], () => Promise.reject(new Error('no')));
  const next = locks.run(['a'], async () => 'done');
  await expect(failing).rejects.toThrow('no');
  expect(await next).toBe('done');
});

test('any orders of any keys come to an end, alone on each, with nothing kept', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 3 }), { maxLength: 12 }),
      async (requests) => {
        const locks = new FileLocks();
        const held = new Set<string>();
        const work = (keys: string[]) => async () => {
          for (const key of new Set(keys)) {
            expect(held).not.toContain(key);
            held.add(key);
          }
          await Promise.resolve();
          for (const key of keys) held.delete(key);
        };
        await Promise.all(requests.map((keys) => locks.run(keys, work(keys))));
        expect(locks.size).toBe(0);
      },
    ),
  );
});
