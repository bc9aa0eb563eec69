/** Sandboxes of QEMU: virtual machines, copied from templates. */
export type { Accelerator } from './accelerators.ts';
export { QemuBackend } from './qemu-backend.ts';
