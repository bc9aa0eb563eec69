import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

import { isAlive, OWN_MARK } from '#host';
import { tempDir } from '#testing';
import { withBuildLock } from './build-lock.ts';

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
  expect([most, readdirSync(dir.path('locks'))]).toEqual([1, []]);
});

test('takes over from a process that died, and not from one that lives', async () => {
  await using dir = await tempDir();
  const child = spawn('sleep', ['60']);
  await once(child, 'spawn');
  const stat = readFileSync(`/proc/${child.pid}/stat`, 'utf8');
  const mark = `${child.pid}-${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]}`;
  dir.add({ [`lock.claims/${mark}-a`]: '' });

  const hurry = AbortSignal.timeout(300);
  await expect(withBuildLock(dir.path('lock'), hurry, async () => 'in')).rejects.toThrow(/abort/);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(await withBuildLock(dir.path('lock'), never, async () => 'in')).toBe('in');
  expect(readdirSync(dir.root)).toEqual([]);
});

test('of many processes that find a dead owner at the same moment, one is in at a time', async () => {
  await using dir = await tempDir({ 'lock.claims/999999999-5-dead': '', log: '' });
  const built = fileURLToPath(new URL('../../../dist/sandbox/images/build-lock.js', import.meta.url));
  const script = `
    import { appendFileSync } from 'node:fs';
    import { setTimeout as sleep } from 'node:timers/promises';
    const { withBuildLock } = await import(${JSON.stringify(built)});
    for (let turn = 0; turn < 5; turn++)
      await withBuildLock(${JSON.stringify(dir.path('lock'))}, new AbortController().signal, async () => {
        appendFileSync(${JSON.stringify(dir.path('log'))}, 'in ');
        await sleep(2);
        appendFileSync(${JSON.stringify(dir.path('log'))}, 'out ');
      });`;
  const codes = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' });
      return (await once(child, 'exit'))[0] as number;
    }),
  );
  expect([codes, readFileSync(dir.path('log'), 'utf8')]).toEqual([[0, 0, 0, 0], 'in out '.repeat(20)]);
  expect(readdirSync(dir.root)).toEqual(['log']);
});

test('knows this process from an earlier one with its id', () => {
  expect([isAlive(OWN_MARK), isAlive(`${process.pid}-1`), isAlive('999999999-5')]).toEqual([true, false, false]);
});
