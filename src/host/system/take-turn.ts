/** Yields to the event loop during long work. Throws when the caller has gone away. */
import { setImmediate as nextTurn } from 'node:timers/promises';

export async function takeTurn({ signal }: { readonly signal: AbortSignal }): Promise<void> {
  await nextTurn();
  signal.throwIfAborted();
}
