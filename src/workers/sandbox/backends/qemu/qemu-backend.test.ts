/**
 * The contract on virtual machines with an emulated processor: the slowest backend, so every timeout is twenty times as
 * long.
 */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { guestRoot, machineCache, whyNoQemu, type TempDir } from '#testing';
import { backendContract } from '../backend.contract.ts';
import type { Shape } from '../backend.ts';
import { QemuBackend } from './qemu-backend.ts';

vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 });

const whyNot = await whyNoQemu();

describe.skipIf(whyNot !== undefined)(`sandbox.P11 qemu${whyNot === undefined ? '' : ` (${whyNot})`}`, () => {
  let root: TempDir;
  let cache: TempDir;
  let backend: QemuBackend;
  let shape: Shape;

  beforeAll(async () => {
    [root, cache] = [await guestRoot(), await machineCache()];
    backend = new QemuBackend({ cacheDir: cache.root, accelerator: 'tcg' });
    const image = { name: 'busybox', ref: 'busybox', digest: 'none', directory: async () => root.root, env: [] };
    // Also the size of the limit tests: another size costs another boot.
    shape = { image, cpus: 1, memoryMb: 256, diskMb: 16 };
  }, 60_000);

  afterAll(async () => {
    await root[Symbol.asyncDispose]();
    await cache[Symbol.asyncDispose]();
  });

  test('the probe boots a machine and says what it is', async () => {
    expect(await backend.probe(AbortSignal.timeout(120_000))).toEqual({
      ok: true,
      detail: expect.stringMatching(/^QEMU emulator version \d.*, limits by (cgroup2|cgroup1|the machine alone)$/),
    });
  });

  backendContract('qemu', () => ({ backend, shape, slowness: 6, traits: ['oom-kills-uncounted'], lowMemoryMb: 256 }));
});
