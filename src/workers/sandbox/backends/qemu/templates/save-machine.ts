/**
 * Has QEMU write the state of a machine that runs, without its memory where that has a file.
 *
 * The machine runs while it is saved, so that one made from the state runs too. Afterwards it stands still, and the file of
 * its memory is what the state belongs to.
 */
import { QmpError, type Qmp } from '../qmp.ts';
import type { RamMode } from './template.ts';

const IGNORE_SHARED = 'x-ignore-shared';

/** This QEMU does not leave memory out of a state. */
export class SharedMemoryRefused extends Error {
  override readonly name = 'SharedMemoryRefused';
}

/** What QEMU has to be told on both sides of a state. */
export function capabilitiesFor(ram: RamMode): { capability: string; state: boolean }[] {
  return ram === 'file' ? [{ capability: IGNORE_SHARED, state: true }] : [];
}

/** Resolves when QEMU has sent all of it; whether it arrived is for the other end to say. */
export async function saveMachine(qmp: Qmp, { uri, ram }: { uri: string; ram: RamMode }): Promise<void> {
  await qmp.execute('migrate-set-capabilities', { capabilities: [{ capability: 'events', state: true }] });
  await leaveOutMemory(qmp, ram);
  const over = qmp.event(
    ({ name, data }) => name === 'MIGRATION' && (data.status === 'completed' || data.status === 'failed'),
  );
  // Asked for before the command, and not waited for when that fails.
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
