/** Contract tests of limits: a machine gets no more than its size, and its usage is reported. */
import { expect, test } from 'vitest';

import type { Subject } from './backend.contract.ts';
import { startMachine } from './machine.contract.ts';

export function limitContract(subject: () => Subject): void {
  const start = (more: { memoryMb?: number; diskMb?: number; cpus?: number }) =>
    startMachine(subject().backend, { ...subject().shape, ...more }, slowness());
  const slowness = () => subject().slowness ?? 1;

  test('sandbox.P6 a disk that is full says so, and has room again when files go', async () => {
    await using machine = await start({ diskMb: 16 });
    const { stderr } = await machine.sh('dd if=/dev/zero of=/home/fill bs=1M count=200');
    expect(stderr).toContain('No space left on device');
    const full = await machine.instance.usage();
    expect(full?.diskBytes ?? 16 * 2 ** 20).toBeGreaterThan(15 * 2 ** 20);
    expect(await machine.sh('rm /home/fill; echo again > /home/f; cat /home/f')).toMatchObject({
      stdout: 'again',
      exitCode: 0,
    });
  });

  test('sandbox.P6 a command that takes more memory than there is ends, and the machine lives', async () => {
    const memoryMb = subject().lowMemoryMb ?? 48;
    await using machine = await start({ memoryMb, diskMb: 16 });
    // dd holds a block of this size in memory.
    const { exitCode } = await machine.sh(`dd if=/dev/zero of=/dev/null bs=${memoryMb + 152}M count=1`);
    expect([1, 137]).toContain(exitCode);
    const usage = await machine.instance.usage();
    const isCounted = !subject().traits?.includes('oom-kills-uncounted');
    if (usage && isCounted) expect(usage.oomKills).toBeGreaterThan(0);
    expect((await machine.sh('echo alive')).stdout).toBe('alive');
  });

  test('sandbox.P6 a machine that forks without end is stopped at its limit, and works again afterwards', async () => {
    await using machine = await start({ diskMb: 16 });
    const forks = 'i=0; while [ $i -lt 5000 ]; do sleep 310 & i=$((i+1)); done; wait';
    expect((await machine.sh(forks, { timeoutMs: 10_000 * slowness() })).exitCode).not.toBe(0);
    const usage = await machine.instance.usage();
    const maxPids = subject().traits?.includes('pids-of-the-host') ? 8200 : 2000;
    if (usage) expect(usage.pids).toBeLessThan(maxPids);
    const left = async () => {
      // The leftovers of the failed shell still run, so there is room for one process but not for a pipeline, and for
      // none just after a usage request: a command that hangs then is retried.
      const soon = { timeoutMs: 3000 * slowness(), signal: AbortSignal.timeout(5000 * slowness()) };
      await machine.exec(['killall', '-9', 'sleep'], soon);
      return (await machine.sh('ps -o args | grep -c "[s]leep 310"', soon)).stdout;
    };
    await expect.poll(left, { timeout: 30_000 * slowness() }).toBe('0');
  }, 600_000);
}
