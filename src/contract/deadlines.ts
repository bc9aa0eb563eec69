/**
 * The end of what takes too long, for all that may take equally long.
 *
 * Nearly everything is done in time, and a timer that is made and cleared for each would be a good part of a small
 * call. So there is one timer, which runs on when what it was set for is done and then finds what is next.
 */
export class Deadlines {
  readonly #ms: number;
  /** In the order in which they are due. */
  readonly #running = new Set<{ dueAt: number; expire: () => void }>();
  #isSet = false;

  constructor(ms: number) {
    this.#ms = ms;
  }

  /** Calls `expire` when the time is over, unless it is said to be done before. */
  start(expire: () => void): { done: () => void } {
    const running = { dueAt: performance.now() + this.#ms, expire };
    this.#running.add(running);
    if (!this.#isSet) this.#ringIn(this.#ms);
    return { done: () => void this.#running.delete(running) };
  }

  #ringIn(ms: number): void {
    this.#isSet = true;
    // Whoever waits for a call keeps its process by a connection or a timer of its own.
    setTimeout(() => this.#ring(), ms).unref();
  }

  #ring(): void {
    const now = performance.now();
    try {
      for (const running of this.#running) {
        if (running.dueAt > now) break;
        this.#running.delete(running);
        running.expire();
      }
    } finally {
      const [next] = this.#running;
      if (next) this.#ringIn(Math.max(next.dueAt - now, 0));
      else this.#isSet = false;
    }
  }
}
