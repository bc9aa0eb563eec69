import { setTimeout as sleep } from 'node:timers/promises';

import fc from 'fast-check';
import { expect, test } from 'vitest';

import { FileLocks } from './file-locks.ts';

test('a key is locked by one caller at a time, in order of arrival; other keys are independent', async () => {
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

test('keys are free while no caller holds or waits for any of them, and work then starts at once', async () => {
  const locks = new FileLocks();
  expect(locks.areFree(['a', 'b'])).toBe(true);
  const seen: boolean[] = [];
  const running = locks.run(['a'], async () => void seen.push(locks.areFree(['b', 'a']), locks.areFree(['b'])));
  expect(seen).toEqual([false, true]);
  await running;
  expect(locks.areFree(['a', 'b'])).toBe(true);
});

test('work that fails releases its lock and rejects for its own caller only', async () => {
  const locks = new FileLocks();
  const failing = locks.run(['a'], () => Promise.reject(new Error('no')));
  const next = locks.run(['a'], async () => 'done');
  await expect(failing).rejects.toThrow('no');
  expect(await next).toBe('done');
});

test('any order of any keys ends without deadlock, exclusively, and leaves no keys', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 3 }), { maxLength: 12 }),
      async (requests) => {
        const locks = new FileLocks();
        const locked = new Set<string>();
        const work = (keys: string[]) => async () => {
          for (const key of new Set(keys)) {
            expect(locked).not.toContain(key);
            locked.add(key);
          }
          await Promise.resolve();
          for (const key of keys) locked.delete(key);
        };
        await Promise.all(requests.map((keys) => locks.run(keys, work(keys))));
        expect(locks.size).toBe(0);
      },
    ),
  );
});
