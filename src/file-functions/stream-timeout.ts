/** Waiting for someone else's stream, no longer than is reasonable. */

export interface Patience {
  readonly ms: number;
  readonly signal: AbortSignal;
  /** What is thrown when it runs out. */
  readonly late: () => Error;
}

/** What the promise gives in time. What it does after that is not waited for. */
export async function inTime<T>(promise: Promise<T>, { ms, signal, late }: Patience): Promise<T> {
  let stop = () => {};
  const given = new Promise<never>((_, reject) => {
    const timer = setTimeout(() => reject(late()), ms);
    const abort = () => reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    stop = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    };
  });
  try {
    return await Promise.race([promise, given]);
  } finally {
    stop();
  }
}
