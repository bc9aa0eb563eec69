/**
 * Makes QEMU save the state of a running machine; leaves out memory that has a file.
 *
 * The machine runs while it is saved, so that a clone runs too. Afterwards it is stopped, and the file of its memory
 * belongs to the state.
 */
import { z } from 'zod';

import { QmpError, type Qmp } from '../qmp.ts';
import type { RamMode } from './template.ts';

const IGNORE_SHARED = 'x-ignore-shared';

/** QEMU's state of a migration, as far as it is read. */
const Migration = z.object({ 'error-desc': z.string().default('QEMU gives no reason') });

/** This QEMU cannot leave memory out of a state. */
export class SharedMemoryRefused extends Error {
  override readonly name = 'SharedMemoryRefused';
}

/** Migration capabilities, the same for saving and loading. */
export function capabilitiesFor(ram: RamMode): { capability: string; state: boolean }[] {
  return ram === 'file' ? [{ capability: IGNORE_SHARED, state: true }] : [];
}

/** Resolves when QEMU has sent all of it; the receiver knows whether it arrived. */
export async function saveMachine(qmp: Qmp, { uri, ram }: { uri: string; ram: RamMode }): Promise<void> {
  await qmp.execute('migrate-set-capabilities', { capabilities: [{ capability: 'events', state: true }] });
  await leaveOutMemory(qmp, ram);
  const over = qmp.event(
    ({ name, data }) => name === 'MIGRATION' && (data.status === 'completed' || data.status === 'failed'),
  );
  // Subscribed before the command; ignored if the command fails.
  over.catch(() => {});
  await qmp.execute('migrate', { uri });
  if ((await over).data.status !== 'failed') return;
  const { 'error-desc': reason } = Migration.parse(await qmp.execute('query-migrate'));
  throw new Error(`QEMU could not save the machine: ${reason}; check that the disk of cache_dir has space`);
}

async function leaveOutMemory(qmp: Qmp, ram: RamMode): Promise<void> {
  const capabilities = capabilitiesFor(ram);
  if (capabilities.length === 0) return;
  try {
    await qmp.execute('migrate-set-capabilities', { capabilities });
  } catch (error) {
    if (!(error instanceof QmpError)) throw error;
    throw new SharedMemoryRefused(error.message, { cause: error });
  }
}
