/** Measures the longest turn of the event loop, to show that long work yields. */
import { existsSync, readFileSync } from 'node:fs';

const MAIN_THREAD = `/proc/self/task/${process.pid}/schedstat`;

/** Returns a function that stops the measurement and returns the longest turn in milliseconds. */
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

/** CPU time of this thread, so that a busy machine does not count; without /proc the elapsed time. */
function ranMs(): number {
  return existsSync(MAIN_THREAD) ? Number.parseInt(readFileSync(MAIN_THREAD, 'latin1'), 10) / 1e6 : performance.now();
}
