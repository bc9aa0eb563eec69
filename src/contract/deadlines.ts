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

  /** Calls `expire`, which must not throw, when the time is over, unless it is said to be done before. */
  start(expire: () => void): { done: () => void } {
    const running = { dueAt: performance.now() + this.#ms, expire };
    this.#running.add(running);
    if (!this.#isSet) this.#ringIn(this.#ms);
    return { done: () => void this.#running.delete(running) };
  }

  #ringIn(ms: number): void {
    this.#isSet = true;
    // No process waits for it that has nothing else to do.
    setTimeout(() => this.#ring(), ms).unref();
  }

  #ring(): void {
    this.#isSet = false;
    const now = performance.now();
    for (const running of this.#running) {
      if (running.dueAt > now) return this.#ringIn(running.dueAt - now);
      this.#running.delete(running);
      running.expire();
    }
  }
}
