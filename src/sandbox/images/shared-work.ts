/**
 * Runs work once for several simultaneous callers. It is aborted when the last of them has cancelled.
 *
 * Every caller sees the progress from the moment it joined.
 */
export interface Watcher<P> {
  readonly signal: AbortSignal;
  readonly onProgress?: ((progress: P) => void) | undefined;
}

export type Work<T, P> = (signal: AbortSignal, onProgress: (progress: P) => void) => Promise<T>;

interface Running<T, P> {
  readonly result: Promise<T>;
  readonly watchers: Set<Watcher<P>>;
  readonly control: AbortController;
}

export class SharedWork<T, P> {
  readonly #running = new Map<string, Running<T, P>>();

  async do(key: string, watcher: Watcher<P>, work: Work<T, P>): Promise<T> {
    watcher.signal.throwIfAborted();
    const running = this.#running.get(key) ?? this.#start(key, work);
    running.watchers.add(watcher);

    let leave = () => {};
    const left = new Promise<never>((_, reject) => {
      leave = () => reject(watcher.signal.reason as Error);
    });
    watcher.signal.addEventListener('abort', leave);
    try {
      return await Promise.race([running.result, left]);
    } finally {
      watcher.signal.removeEventListener('abort', leave);
      running.watchers.delete(watcher);
      if (running.watchers.size === 0) this.#abandon(key, running);
    }
  }

  #start(key: string, work: Work<T, P>): Running<T, P> {
    const control = new AbortController();
    const watchers = new Set<Watcher<P>>();
    const report = (progress: P) => watchers.forEach(({ onProgress }) => onProgress?.(progress));
    // Deferred, so that the first caller also gets the progress from the beginning.
    const result = Promise.resolve().then(() => work(control.signal, report));
    const running = { result, watchers, control };
    this.#running.set(key, running);
    const forget = () => this.#forget(key, running);
    running.result.then(forget, forget);
    return running;
  }

  /** Lets the next caller start again, instead of joining work that is being aborted. */
  #abandon(key: string, running: Running<T, P>): void {
    this.#forget(key, running);
    running.control.abort();
  }

  #forget(key: string, running: Running<T, P>): void {
    if (this.#running.get(key) === running) this.#running.delete(key);
  }
}
