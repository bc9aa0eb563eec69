/** Waits for a stream with a timeout. */

export interface StreamTimeout {
  readonly ms: number;
  readonly signal: AbortSignal;
  /** Makes the error of a timeout. */
  readonly late: () => Error;
}

/** The promise's value, if it comes in time. Does not stop the work behind it. */
export async function withTimeout<T>(promise: Promise<T>, { ms, signal, late }: StreamTimeout): Promise<T> {
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
