/** One at a time for each key, in order of arrival. Nothing is kept for a key that nobody holds or waits for. */
export class FileLocks {
  readonly #last = new Map<string, Promise<void>>();

  get size(): number {
    return this.#last.size;
  }

  /** Runs the work while it holds all the keys. They are taken in one order by everyone, so that no two wait for each other. */
  run<T>(keys: readonly string[], work: () => Promise<T>): Promise<T> {
    return [...new Set(keys)].sort().reduceRight((inner, key) => () => this.#hold(key, inner), work)();
  }

  async #hold<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key);
    const running = before ? before.then(work) : work();
    const done = running.then(
      () => {},
      () => {},
    );
    this.#last.set(key, done);
    try {
      return await running;
    } finally {
      if (this.#last.get(key) === done) this.#last.delete(key);
    }
  }
}
