/** Host memory of a gVisor sandbox, idle and when its commands want too much. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { guestRoot, machineCache, whyNoGuestRoot, type TempDir } from '#testing';
import { startMachine } from '../machine.contract.ts';
import type { SandboxBackend, Shape } from '../backend.ts';
import { gvisorBackend } from './gvisor-backend.ts';
import { findRunsc } from './runsc.ts';

const MiB = 2 ** 20;
const whyNot = whyNoGuestRoot() ?? (findRunsc() === undefined ? 'the package runsc is missing' : undefined);

describe.skipIf(whyNot !== undefined)(`memory of gvisor${whyNot === undefined ? '' : ` (${whyNot})`}`, () => {
  vi.setConfig({ testTimeout: 120_000 });
  let root: TempDir;
  let cache: TempDir;
  let backend: SandboxBackend;
  let shape: Shape;

  beforeAll(async () => {
    [root, cache] = [await guestRoot(), await machineCache()];
    backend = gvisorBackend({ cacheDir: cache.root });
    const image = { name: 'busybox', ref: 'busybox', digest: 'none', directory: async () => root.root, env: [] };
    shape = { image, cpus: 1, memoryMb: 128, diskMb: 64 };
  });
  afterAll(async () => {
    await backend?.close();
    for (const dir of [root, cache]) await dir?.[Symbol.asyncDispose]();
  });

  test('memory that is held back costs the host little, and what a command takes is counted', async () => {
    await using machine = await startMachine(backend, shape);
    const idle = await machine.instance.usage();
    if (!idle) return;
    expect(idle.memoryBytes).toBeLessThan(100 * MiB);
    await machine.sh('head -c 50000000 /dev/zero > /dev/shm/f');
    const used = await machine.instance.usage();
    expect(used!.memoryBytes - idle.memoryBytes).toBeGreaterThan(45e6);
    expect(used!.diskBytes).toBeLessThan(MiB);
  });

  test('commands that together want more memory than there is leave little of it taken', async () => {
    await using machine = await startMachine(backend, { ...shape, memoryMb: 64 });
    const hog = 'x=aaaaaaaa; i=0; while [ $i -lt 23 ]; do x=$x$x; i=$((i+1)); done; sleep 60';
    await Promise.all(Array.from({ length: 6 }, () => machine.sh(hog, { timeoutMs: 10_000 })));
    await machine.sh('true');
    expect((await machine.instance.usage())?.memoryBytes ?? 0).toBeLessThan(400 * MiB);
  });
});
