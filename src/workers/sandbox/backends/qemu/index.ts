/**
 * QEMU sandboxes: virtual machines, cloned from templates.
 *
 * They are two rungs. With hardware virtualization QEMU is the strongest; as an emulator it isolates as well but is
 * slow.
 */
import type { BackendDef } from '../definition.ts';
import { whyNoKvm, type Accelerator } from './accelerators.ts';
import facts from './backend.json' with { type: 'json' };
import { prepareKernel } from './files/kernel.ts';
import { QemuBackend } from './qemu-backend.ts';

/** Each system's name for hardware virtualization. */
const NATIVE: Partial<Record<NodeJS.Platform, Accelerator>> = { linux: 'kvm', darwin: 'hvf', win32: 'whpx' };

const FIXES: Record<string, string> = {
  'qemu+kvm': 'needs nested virtualization enabled on the outer host',
  'qemu+hvf': 'needs a Mac with hardware virtualization',
  'qemu+whpx': 'turn on the Windows Hypervisor Platform',
};

export const qemu: BackendDef = {
  ...facts,
  open({ cacheDir, log, pooled }) {
    const native = NATIVE[process.platform];
    const accelerators: Accelerator[] = native === undefined ? ['tcg'] : [native, 'tcg'];
    return accelerators.map((accelerator) => pooled(new QemuBackend({ cacheDir, log, accelerator })));
  },
  // Ranked by whether the device can be opened; only a machine that boots is proof.
  worth: () => (process.platform !== 'linux' || whyNoKvm() === undefined ? 3 : 1),
  advice: (rung, { ok }) => (ok || FIXES[rung] === undefined ? undefined : { fix: FIXES[rung] }),
  extra: {
    what: 'Debian’s kernel for clouds',
    bring: async (cacheDir, options) => `machines boot Linux ${(await prepareKernel(cacheDir, options)).version}`,
  },
};
