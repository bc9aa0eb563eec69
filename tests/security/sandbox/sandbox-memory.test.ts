/**
 * Programs that take more memory than their sandbox has, in every way that is not counted as their own: files
 * without names, unmapped pages, queues of sockets and pipes, tables of the kernel, many small processes.
 *
 * memory_mb limits programs. The disk is in memory too, and a full one does not count.
 */
import { execFileSync } from 'node:child_process';
import { availableParallelism, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { guestRoot, serveSandboxes, SLOWNESS, TEST_BACKEND, type TempDir } from '#testing';
import type { SandboxBackend, Shape } from '../../../src/workers/sandbox/backends/backend.ts';
import type { TestMachine } from '../../../src/workers/sandbox/backends/machine.contract.ts';
import { GuestLost } from '../../../src/sandbox/guest/guest-error.ts';
import { backendCache, makeBackend, start, whyNoBackend } from '../../sandbox-backend.ts';

const HOG = fileURLToPath(new URL('sandbox-hog.c', import.meta.url));
const MEMORY_MB = 256;
const WANTED_MB = 1200;

/** A short overshoot until it is noticed is fine; memory that is kept is not. */
const KEPT_MB = MEMORY_MB + 64;

/** Memory of a guest kernel counts as the programs', and ends with the sandbox. */
const WAYS: Record<string, string[]> = {
  namespaces: ['anon', 'shared', 'memfd', 'hidden', 'shm', 'sockets', 'pipes', 'many', 'tables'],
  gvisor: ['anon', 'sockets', 'pipes'],
  qemu: ['anon', 'hidden', 'many'],
};

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });
const whyNot = await whyNoBackend();

describe.skipIf(whyNot !== undefined)(`memory of a sandbox${whyNot === undefined ? '' : ` (${whyNot})`}`, () => {
  let root: TempDir;
  let cache: TempDir;
  let backend: SandboxBackend;
  let shape: Shape;

  beforeAll(async () => {
    [root, cache] = [await guestRoot(), await backendCache()];
    execFileSync('gcc', ['-static', '-O1', '-w', '-o', root.path('bin/hog'), HOG]);
    backend = makeBackend(cache.root);
    const image = { name: 'busybox', ref: 'busybox', digest: 'none', directory: async () => root.root, env: [] };
    shape = { image, cpus: 1, memoryMb: MEMORY_MB, diskMb: 1024 };
  });

  afterAll(async () => {
    await backend?.close();
    for (const dir of [root, cache]) await dir?.[Symbol.asyncDispose]();
  });

  test.each(WAYS[TEST_BACKEND] ?? [])(
    `sandbox.P6 ${WANTED_MB} MiB by %s in a sandbox of ${MEMORY_MB} are not had`,
    async (way) => {
      await using machine = await start(backend, shape);
      const { isKept, takenMb } = await take(machine, way, WANTED_MB);
      expect(isKept ? takenMb : 0).toBeLessThanOrEqual(KEPT_MB);
      // Memory of gVisor's kernel is not the programs' alone: the sandbox ends with it.
      if (TEST_BACKEND !== 'gvisor') expect((await machine.sh('echo alive')).stdout).toBe('alive');
    },
  );

  test('files that fill the disk take nothing of the memory', async () => {
    await using machine = await start(backend, shape);
    const fill = 'dd if=/dev/zero of=/home/f bs=1M count=900 2>/dev/null && echo written';
    expect((await machine.sh(fill, { timeoutMs: 60_000 * SLOWNESS })).stdout).toBe('written');
    expect(await take(machine, 'anon', 192)).toEqual({ isKept: true, takenMb: 192 });
  });
});

test('a sandbox that wants more than half of the host is refused, and the error says what is free', async () => {
  await using cell = await serveSandboxes();
  const hostMb = Math.floor(totalmem() / 2 ** 20);
  const wanted = { image: 'python', memory_mb: hostMb - 4000, disk_mb: hostMb - 4000 };
  expect(await cell.failure('sandbox::create', { ...wanted, cpus: 1 })).toMatchObject({
    code: 'S400',
    message: expect.stringContaining(`${Math.floor(hostMb * 0.8)} MiB for all sandboxes are free`),
  });
  expect(await cell.failure('sandbox::create', { image: 'python', cpus: 4 * availableParallelism() })).toMatchObject({
    code: 'S400',
    fix: { cpus: Math.max(1, Math.floor(availableParallelism() / 2)) },
  });
});

/** Whether it kept the memory to the end, and how much it reported. */
async function take(machine: TestMachine, way: string, mib: number): Promise<{ isKept: boolean; takenMb: number }> {
  const running = machine.exec(['/bin/hog', way, String(mib)], { timeoutMs: 60_000 * SLOWNESS });
  const outcome = await running.catch((error: unknown) => {
    if (error instanceof GuestLost) return undefined;
    throw error;
  });
  if (!outcome) return { isKept: false, takenMb: 0 };
  const said = outcome.stdout.toString();
  const takenMb = Math.max(0, ...[...said.matchAll(/^took (\d+)$/gm)].map(([, amount]) => Number(amount)));
  return { isKept: outcome.exitCode === 0, takenMb };
}
