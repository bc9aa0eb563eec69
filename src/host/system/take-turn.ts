/** Lets everything else that waits run before long work goes on. Throws when nobody wants the work any more. */
import { setImmediate as nextTurn } from 'node:timers/promises';

export async function takeTurn({ signal }: { readonly signal: AbortSignal }): Promise<void> {
  await nextTurn();
  signal.throwIfAborted();
}
