/** Returns the machine, or kills it and throws if the request was aborted meanwhile. */
import type { Instance } from './backend.ts';

export async function wantedMachine<T extends Instance>(machine: T, signal: AbortSignal): Promise<T> {
  if (!signal.aborted) return machine;
  await machine.kill();
  await machine.dispose();
  throw signal.reason;
}
