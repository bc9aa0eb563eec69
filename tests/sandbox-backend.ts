/** The backend of this run for tests that make machines themselves: see TEST_BACKEND in src/testing. */
import { silentLog } from '#contract';
import { machineCache, SLOWNESS, TEST_BACKEND, whyNoGuestRoot, whyNoQemu, type TempDir } from '#testing';
import { BACKENDS } from '#workers/sandbox';
import type { SandboxBackend, Shape } from '../src/workers/sandbox/backends/backend.ts';
import { startMachine, type TestMachine } from '../src/workers/sandbox/backends/machine.contract.ts';

/** The last rung of the backend, which works on every host where any of them does: for QEMU, emulation. */
export function makeBackend(cacheDir: string): SandboxBackend {
  const definition = BACKENDS.find(({ name }) => name === TEST_BACKEND)!;
  return definition.open({ cacheDir, log: silentLog, pooled: (backend) => backend }).at(-1)!;
}

export function backendCache(): Promise<TempDir> {
  return machineCache();
}

export function start(backend: SandboxBackend, shape: Shape): Promise<TestMachine> {
  return startMachine(backend, shape, SLOWNESS);
}

/** Why it makes no machine of a busybox root here, or undefined. */
export async function whyNoBackend(): Promise<string | undefined> {
  if (TEST_BACKEND === 'qemu') return whyNoQemu();
  const whyNot = whyNoGuestRoot();
  if (whyNot !== undefined || TEST_BACKEND === 'namespaces') return whyNot;
  return makeBackend('').fingerprint() === '' ? 'the package runsc is missing' : undefined;
}
