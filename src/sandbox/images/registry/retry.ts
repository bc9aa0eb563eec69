/** Retries requests that failed temporarily. */
import { setTimeout as sleep } from 'node:timers/promises';

import { RegistryError } from './registry-error.ts';

export async function withRetries<T>(
  { delaysMs, signal }: { delaysMs: readonly number[]; signal: AbortSignal },
  work: () => Promise<T>,
): Promise<T> {
  for (const delayMs of delaysMs) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof RegistryError) || error.reason !== 'unreachable') throw error;
    }
    await sleep(delayMs, undefined, { signal });
  }
  return work();
}
