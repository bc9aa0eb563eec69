/**
 * Deadlines for many operations with the same timeout.
 *
 * Nearly all finish in time, and creating and clearing a timer for each would be a good part of a small call. So there
 * is one timer, which keeps running when its operation is done and then finds the next one.
 */
export class Deadlines {
  readonly #ms: number;
  /** Deadlines in the order in which they are due. */
  readonly #running = new Set<{ dueAt: number; expire: () => void }>();
  #isSet = false;

  constructor(ms: number) {
    this.#ms = ms;
  }

  /** Calls `expire` at the deadline, unless marked as done before. */
  start(expire: () => void): { done: () => void } {
    const running = { dueAt: performance.now() + this.#ms, expire };
    this.#running.add(running);
    if (!this.#isSet) this.#ringIn(this.#ms);
    return { done: () => void this.#running.delete(running) };
  }

  #ringIn(ms: number): void {
    this.#isSet = true;
    // A waiting caller keeps its process alive by a connection or a timer of its own.
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
