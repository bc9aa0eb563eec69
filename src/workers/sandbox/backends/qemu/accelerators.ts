/**
 * Executes the guest's instructions: the processor itself, through this system's hypervisor, or an emulator.
 *
 * An accelerated machine is a hardware VM. An emulated one is as separate but some twenty times slower.
 */
import { accessSync, constants } from 'node:fs';

import type { Isolation } from '../../isolation.ts';

export type Accelerator = 'kvm' | 'hvf' | 'whpx' | 'tcg';

/** The system that offers each hypervisor; tcg works on all. */
const SYSTEMS: Record<Exclude<Accelerator, 'tcg'>, NodeJS.Platform> = { kvm: 'linux', hvf: 'darwin', whpx: 'win32' };

/** Boot timeout. */
export const BOOT_MS: Record<Accelerator, number> = { kvm: 5_000, hvf: 5_000, whpx: 10_000, tcg: 60_000 };

export function isolationOf(accelerator: Accelerator): Isolation {
  return accelerator === 'tcg' ? 'emulated-vm' : 'hardware-vm';
}

/** Why this system cannot offer it, or undefined. */
export function whyNotHere(accelerator: Accelerator, platform: NodeJS.Platform = process.platform): string | undefined {
  if (accelerator === 'tcg') return undefined;
  const needed = SYSTEMS[accelerator];
  return platform === needed ? undefined : `${accelerator} is of ${needed}, and this is ${platform}`;
}

/** Why this process cannot try; undefined does not prove that it works. */
export function whyNoKvm(): string | undefined {
  try {
    accessSync('/dev/kvm', constants.R_OK | constants.W_OK);
    return undefined;
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    return isMissing ? 'there is no /dev/kvm' : '/dev/kvm may not be opened; join the group kvm';
  }
}
