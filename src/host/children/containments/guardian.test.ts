import { readFileSync } from 'node:fs';

import { expect, test, vi } from 'vitest';

import { tempDir } from '#testing/basics';
import { Guardian } from './guardian.ts';
import { listProcesses } from '../processes.ts';

const SAY = 'echo "$1 $last_line" > "$2"';

test('runs its script with the last line set, when it is closed', async () => {
  await using dir = await tempDir();
  const guardian = new Guardian(SAY, ['hello', dir.path('said')]);
  guardian.ensure();
  guardian.setLine('one');
  guardian.setLine('two three');
  await guardian.close();
  expect(readFileSync(dir.path('said'), 'utf8')).toBe('hello two three\n');
});

test('is not started without ensure()', async () => {
  await using dir = await tempDir();
  await new Guardian(SAY, ['hello', dir.path('said')]).close();
  expect(() => readFileSync(dir.path('said'))).toThrow('ENOENT');
});

test('is replaced when it was killed, and the new one has the line of the old one', async () => {
  await using dir = await tempDir();
  const guardian = new Guardian(SAY, ['hello', dir.path('said')]);
  guardian.ensure();
  guardian.setLine('remember');
  await expect.poll(() => guardiansFor(dir.root)).toHaveLength(1);
  const [first] = await guardiansFor(dir.root);
  // One that lives less than a second is not replaced.
  const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 2000);
  try {
    process.kill(first!, 'SIGKILL');
    await expect.poll(() => guardiansFor(dir.root)).toEqual([expect.not.toSatisfy((pid) => pid === first)]);
  } finally {
    clock.mockRestore();
  }
  await guardian.close();
  expect(readFileSync(dir.path('said'), 'utf8')).toBe('hello remember\n');
});

test('ignores SIGTERM, SIGINT and SIGHUP', async () => {
  await using dir = await tempDir();
  const guardian = new Guardian(SAY, ['hello', dir.path('said')]);
  guardian.ensure();
  guardian.setLine('here');
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
