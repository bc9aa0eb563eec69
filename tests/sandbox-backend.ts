/** The backend of this run for tests that make machines themselves: see TEST_BACKEND in src/testing. */
import { qemuCache, SLOWNESS, tempDir, TEST_BACKEND, whyNoGuestRoot, whyNoQemu, type TempDir } from '#testing';
import type { SandboxBackend, Shape } from '../src/workers/sandbox/backends/backend.ts';
import { GvisorBackend } from '../src/workers/sandbox/backends/gvisor/index.ts';
import { startMachine, type TestMachine } from '../src/workers/sandbox/backends/machine.contract.ts';
import { NamespacesBackend } from '../src/workers/sandbox/backends/namespaces/index.ts';
import { QemuBackend } from '../src/workers/sandbox/backends/qemu/index.ts';

const MAKERS: Record<typeof TEST_BACKEND, (cacheDir: string) => SandboxBackend> = {
  namespaces: (cacheDir) => new NamespacesBackend({ cacheDir }),
  gvisor: (cacheDir) => new GvisorBackend({ cacheDir }),
  qemu: (cacheDir) => new QemuBackend({ cacheDir, accelerator: 'tcg' }),
};

export function makeBackend(cacheDir: string): SandboxBackend {
  return MAKERS[TEST_BACKEND](cacheDir);
}

export function backendCache(): Promise<TempDir> {
  return TEST_BACKEND === 'qemu' ? qemuCache() : tempDir();
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
