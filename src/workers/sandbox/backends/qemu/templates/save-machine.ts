/**
 * Makes QEMU save the state of a running machine; leaves out memory that has a file.
 *
 * The machine runs while it is saved, so that a clone runs too. Afterwards it is stopped, and the file of its memory
 * belongs to the state.
 */
import { QmpError, type Qmp } from '../qmp.ts';
import type { RamMode } from './template.ts';

const IGNORE_SHARED = 'x-ignore-shared';

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
  if ((await over).data.status === 'failed') throw new Error('QEMU could not save the machine');
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
