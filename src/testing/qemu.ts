/**
 * Shared by tests of virtual machines: the programs, and one kernel.
 *
 * The kernel stays cached after the run, like the packages beside it; the first test that needs it downloads it.
 */
import { mkdirSync, symlinkSync } from 'node:fs';

import { BACKENDS, missingFor } from '#workers/sandbox';
import { whyNoGuestRoot } from './images/guest-root.ts';
import { SHARED_CACHE_DIR } from './images/shared-programs.ts';
import { tempDir, type TempDir } from './temp-dir.ts';

const DOWNLOAD_MS = 600_000;

/** Why no virtual machine with a busybox root starts here, or undefined. */
export async function whyNoQemu(): Promise<string | undefined> {
  const qemu = BACKENDS.find(({ name }) => name === 'qemu')!;
  const missing = missingFor(qemu).map((need) => need.package);
  if (missing.length > 0) return `missing: ${missing.join(', ')}`;
  try {
    await qemu.extra?.bring(SHARED_CACHE_DIR, { signal: AbortSignal.timeout(DOWNLOAD_MS), onProgress() {} });
  } catch (error) {
    return (error as Error).message;
  }
  return whyNoGuestRoot();
}

/** A new cache directory for virtual machines; only the kernel in it is shared. */
export function qemuCache(): Promise<TempDir> {
  return cacheWith('kernels');
}

/** The same for any backend; our programs are shared too, because compiling them takes longer than many tests. */
export function machineCache(): Promise<TempDir> {
  return cacheWith('kernels', 'programs');
}

async function cacheWith(...shared: string[]): Promise<TempDir> {
  const dir = await tempDir();
  for (const name of shared) {
    mkdirSync(`${SHARED_CACHE_DIR}/${name}`, { recursive: true });
    symlinkSync(`${SHARED_CACHE_DIR}/${name}`, dir.path(name));
  }
  return dir;
}
