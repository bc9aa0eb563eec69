/** Polls until killed processes are gone. They need one scheduler turn, so the first polls follow each other closely. */
import { setTimeout as sleep } from 'node:timers/promises';

import { KILL_DEADLINE_MS } from './containments/containment.ts';

const MAX_PAUSE_MS = 50;

/**
 * Polls until `isGone` returns true; `isGone` may kill again at each poll. False if that has not happened by the
 * deadline.
 */
export async function awaitGone(isGone: () => boolean | Promise<boolean>): Promise<boolean> {
  const deadline = performance.now() + KILL_DEADLINE_MS;
  for (let pauseMs = 1; !(await isGone()); pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
    if (performance.now() > deadline) return false;
    await sleep(pauseMs);
  }
  return true;
}
