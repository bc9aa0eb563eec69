/**
 * The initramfs of a machine: the agent as its first program, and the modules it loads to reach its disks and its
 * channel.
 *
 * The file is named after its content, so machines with the same agent and kernel share it without a comparison.
 */
import { hash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { cpioArchive, FILE_TYPE, type CpioEntry } from './cpio.ts';
import { readModules, type KernelModule } from './kernel-modules.ts';
import type { Kernel } from './kernel.ts';
import { makeOnce, type Waiter } from './make-once.ts';

/** Both buses: a machine has one, and the module of the other finds nothing. */
const MODULES = ['virtio_mmio', 'virtio_pci', 'virtio_console', 'virtio_blk', 'erofs', 'overlay'];

export async function prepareInitramfs(
  { agent, kernel, cacheDir }: { agent: string; kernel: Kernel; cacheDir: string },
  waiter: Waiter,
): Promise<string> {
  const archive = initramfs(readFileSync(agent), readModules(kernel.modulesDir, MODULES));
  const digest = hash('sha256', archive);
  return makeOnce(join(cacheDir, 'initramfs', `${digest}.cpio`), waiter, async (draft) => {
    writeFileSync(draft, archive);
  });
}

/** The agent loads the modules in the order of their names. */
function initramfs(agent: Uint8Array, modules: readonly KernelModule[]): Buffer {
  const directory = (path: string): CpioEntry => ({ path, mode: FILE_TYPE.directory | 0o755 });
  return cpioArchive([
    directory('dev'),
    // The kernel opens this device for the first program, before anything is mounted.
    { path: 'dev/console', mode: FILE_TYPE.characterDevice | 0o600, device: { major: 5, minor: 1 } },
    directory('modules'),
    ...modules.map(({ name, content }, index) => ({
      path: `modules/${String(index).padStart(2, '0')}-${name}`,
      mode: FILE_TYPE.file | 0o644,
      content,
    })),
    { path: 'init', mode: FILE_TYPE.file | 0o755, content: agent },
  ]);
}
