import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

import { expect, test } from 'vitest';

import { tempDir } from '#testing';
import { withBuildLock } from './build-lock.ts';
import { isAlive, OWN_MARK } from './process-mark.ts';

const never = new AbortController().signal;

test('lets one in at a time and leaves nothing behind', async () => {
  await using dir = await tempDir();
  let inside = 0;
  let most = 0;
  const work = () =>
    withBuildLock(dir.path('locks/a'), never, async () => {
      most = Math.max(most, ++inside);
      await new Promise((resolve) => setTimeout(resolve, 5));
      inside--;
    });
  await Promise.all([work(), work(), work()]);
  expect([most, existsSync(dir.path('locks/a'))]).toEqual([1, false]);
});

test('takes over from a process that died, and not from one that lives', async () => {
  await using dir = await tempDir();
  const child = spawn('sleep', ['60']);
  await once(child, 'spawn');
  const stat = readFileSync(`/proc/${child.pid}/stat`, 'utf8');
  const mark = `${child.pid}-${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]}`;
  writeFileSync(dir.path('lock'), mark);

  const hurry = AbortSignal.timeout(300);
  await expect(withBuildLock(dir.path('lock'), hurry, async () => 'in')).rejects.toThrow(/abort/);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(await withBuildLock(dir.path('lock'), never, async () => 'in')).toBe('in');
});

test('knows this process from an earlier one with its id', () => {
  expect([isAlive(OWN_MARK), isAlive(`${process.pid}-1`), isAlive('999999999-5')]).toEqual([true, false, false]);
});
