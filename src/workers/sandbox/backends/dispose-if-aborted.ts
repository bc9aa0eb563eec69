/** A machine that was asked for: whoever no longer wants it when it is there does not get it, and it is gone. */
import type { Instance } from './backend.ts';

export async function wantedMachine<T extends Instance>(machine: T, signal: AbortSignal): Promise<T> {
  if (!signal.aborted) return machine;
  await machine.kill();
  await machine.dispose();
  throw signal.reason;
}
