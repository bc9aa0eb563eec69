/**
 * The processor time of a sandbox beside seven that keep every processor busy with many processes each.
 *
 * Each process is in a session of its own, which some kernels give a share of its own. Shares are compared by what each was given in the same time, so how fast this machine is makes no difference.
 */
import { setTimeout as passed } from 'node:timers/promises';

import { afterAll, beforeAll, expect, test, vi } from 'vitest';

import { guestRoot, type TempDir } from '#testing';
import type { SandboxBackend, Shape } from '../../../src/workers/sandbox/backends/backend.ts';
import type { TestMachine } from '../../../src/workers/sandbox/backends/machine.contract.ts';
import { openLimiter } from '../../../src/workers/sandbox/limits/limits.ts';
import { backendCache, makeBackend, start, whyNoBackend } from '../../sandbox-backend.ts';

const BUSY = 7;
const PROCESSES = 48;
const MEASURE_MS = 4000;

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });
const whyNot =
  (await whyNoBackend()) ?? (openLimiter().kind === 'watchdog' ? 'no control group limits processors here' : undefined);

let root: TempDir;
let cache: TempDir;
let backend: SandboxBackend;
let shape: Shape;

beforeAll(async () => {
  if (whyNot !== undefined) return;
  [root, cache] = [await guestRoot(), await backendCache()];
  backend = makeBackend(cache.root);
  const image = { name: 'busybox', ref: 'busybox', digest: 'none', directory: async () => root.root, env: [] };
  shape = { image, cpus: 1, memoryMb: 64, diskMb: 16 };
});

afterAll(async () => {
  for (const dir of [root, cache]) await dir?.[Symbol.asyncDispose]();
});

test.skipIf(whyNot !== undefined)(
  `one program beside ${BUSY} sandboxes of ${PROCESSES} has its part (${whyNot ?? 'by control groups'})`,
  async () => {
    const machines: TestMachine[] = [];
    try {
      for (let i = 0; i <= BUSY; i++) machines.push(await start(backend, shape));
      const [modest, ...busy] = machines as [TestMachine, ...TestMachine[]];
      const loop = (count: number) =>
        `i=0; while [ $i -lt ${count} ]; do setsid sh -c 'while :; do :; done' & i=$((i+1)); done; wait`;
      const running = [modest, ...busy].map((machine) =>
        machine.exec(['/bin/sh', '-c', loop(machine === modest ? 1 : PROCESSES)], { timeoutMs: 60_000 }),
      );
      for (const one of running) one.catch(() => {});
      await passed(1000);
      const before = await Promise.all(machines.map(cpuMs));
      await passed(MEASURE_MS);
      const [mine, ...others] = (await Promise.all(machines.map(cpuMs))).map((now, i) => now - before[i]!);
      const fair = (mine! + others.reduce((sum, one) => sum + one, 0)) / machines.length;
      expect(mine).toBeGreaterThan(fair / 2);
      expect(Math.max(...others)).toBeLessThan(fair * 2);
    } finally {
      for (const machine of machines) await machine[Symbol.asyncDispose]();
    }
  },
);

async function cpuMs({ instance }: TestMachine): Promise<number> {
  return (await instance.usage())!.cpuMs;
}
