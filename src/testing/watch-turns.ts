/** The longest turn of the event loop, by which a test sees that long work lets others run. */
import { existsSync, readFileSync } from 'node:fs';

const MAIN_THREAD = `/proc/self/task/${process.pid}/schedstat`;

/** Watches until what it returns is called, which answers how many milliseconds the longest turn took. */
export function watchTurns(): () => number {
  let [since, longestMs] = [ranMs(), 0];
  let next = setImmediate(turn);

  function note(): void {
    const now = ranMs();
    longestMs = Math.max(longestMs, now - since);
    since = now;
  }

  function turn(): void {
    note();
    next = setImmediate(turn);
  }

  return () => {
    note();
    clearImmediate(next);
    return longestMs;
  };
}

/** What this thread has had of a processor, so that a busy machine does not count; without /proc the time that passed. */
function ranMs(): number {
  return existsSync(MAIN_THREAD) ? Number.parseInt(readFileSync(MAIN_THREAD, 'latin1'), 10) / 1e6 : performance.now();
}
