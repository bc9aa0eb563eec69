/** Waiting for killed processes to be gone: they need no more than their next turn, so the first looks follow fast. */
import { setTimeout as sleep } from 'node:timers/promises';

import { KILL_DEADLINE_MS } from './rung.ts';

const MAX_PAUSE_MS = 50;

/** Looks until `isGone`, which may kill again at each look; false when that has not come by the deadline. */
export async function awaitGone(isGone: () => boolean | Promise<boolean>): Promise<boolean> {
  const deadline = performance.now() + KILL_DEADLINE_MS;
  for (let pauseMs = 1; !(await isGone()); pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
    if (performance.now() > deadline) return false;
    await sleep(pauseMs);
  }
  return true;
}
