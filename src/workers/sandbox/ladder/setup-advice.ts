/**
 * Which backend to set up on a host.
 *
 * Only what could help is named: QEMU comes first where it might use the processor's own virtualisation, and gVisor
 * elsewhere, because emulation is some twenty times slower.
 */
import { accessSync, constants } from 'node:fs';

import { missingFor, type BackendName } from './needs.ts';

/** In the order in which they are worth having here. */
export function worthHaving(): BackendName[] {
  if (process.platform !== 'linux') return ['qemu'];
  return hasVirtualisation() ? ['qemu', 'gvisor'] : ['gvisor', 'qemu'];
}

/** Whether this process may try; a machine that boots is the only proof. */
function hasVirtualisation(): boolean {
  try {
    accessSync('/dev/kvm', constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** The first of these that lacks a program; undefined when installing something would not help. */
export function worthSettingUp(wanted: Iterable<BackendName>): BackendName | undefined {
  const names = new Set(wanted);
  return [...worthHaving(), ...names].find((name) => names.has(name) && missingFor(name).length > 0);
}
