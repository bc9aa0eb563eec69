import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { expect, test } from 'vitest';

import { tempDir } from '#testing/basics';
import { Guardian } from './guardian.ts';
import { listProcesses } from '../processes.ts';

const SAY = 'echo "$1 $told" > "$2"';

test('runs its script with what it was told last, when it is closed', async () => {
  await using dir = await tempDir();
  const guardian = new Guardian(SAY, ['hello', dir.path('said')]);
  guardian.ensure();
  guardian.tell('one');
  guardian.tell('two three');
  await guardian.close();
  expect(readFileSync(dir.path('said'), 'utf8')).toBe('hello two three\n');
});

test('is not started for nothing', async () => {
  await using dir = await tempDir();
  await new Guardian(SAY, ['hello', dir.path('said')]).close();
  expect(() => readFileSync(dir.path('said'))).toThrow('ENOENT');
});

test('is replaced when it was killed, and the new one knows what the old one was told', async () => {
  await using dir = await tempDir();
  const guardian = new Guardian(SAY, ['hello', dir.path('said')]);
  guardian.ensure();
  guardian.tell('remember');
  await sleep(1100);
  await expect.poll(() => guardiansFor(dir.root)).toHaveLength(1);
  const [first] = await guardiansFor(dir.root);
  process.kill(first!, 'SIGKILL');
  await expect.poll(() => guardiansFor(dir.root)).toEqual([expect.not.toSatisfy((pid) => pid === first)]);
  await guardian.close();
  expect(readFileSync(dir.path('said'), 'utf8')).toBe('hello remember\n');
});

test('does not heed polite signals', async () => {
  await using dir = await tempDir();
  const guardian = new Guardian(SAY, ['hello', dir.path('said')]);
  guardian.ensure();
  guardian.tell('here');
  const isReady = async () => (await guardiansFor(dir.root)).some((pid) => ignores(pid, 15));
  await expect.poll(isReady).toBe(true);
  for (const pid of await guardiansFor(dir.root))
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.kill(pid, signal);
  await guardian.close();
  expect(readFileSync(dir.path('said'), 'utf8')).toBe('hello here\n');
});

/** Our children whose arguments name the folder. */
async function guardiansFor(folder: string): Promise<number[]> {
  const ours = (await listProcesses()).filter(({ ppid }) => ppid === process.pid);
  return ours.map(({ pid }) => pid).filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(folder));
}

function ignores(pid: number, signal: number): boolean {
  const mask = /SigIgn:\s+([0-9a-f]+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]!;
  return (BigInt(`0x${mask}`) >> BigInt(signal - 1)) % 2n === 1n;
}
