/** A line on a terminal that tells what is being waited for and how long already; nothing elsewhere. */

/** Most waits are over before anyone wonders. */
const SHOW_AFTER_MS = 500;

export async function showingWait<T>(work: Promise<T>, what: string): Promise<T> {
  if (!process.stderr.isTTY) return work;

  const startMs = performance.now();
  const timer = setInterval(() => {
    const secs = Math.floor((performance.now() - startMs) / 1000);
    process.stderr.write(`\r${what} … ${secs} s\x1b[K`);
  }, SHOW_AFTER_MS);
  try {
    return await work;
  } finally {
    clearInterval(timer);
    process.stderr.write('\r\x1b[K');
  }
}
