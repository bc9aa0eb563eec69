/** One at a time for each key, in order of arrival. Nothing is kept for a key that nobody holds or waits for. */
export class FileLocks {
  readonly #last = new Map<string, Promise<void>>();

  get size(): number {
    return this.#last.size;
  }

  /** Whether nobody holds or waits for any of the keys, so that what is run now begins at once. */
  areFree(keys: readonly string[]): boolean {
    return !keys.some((key) => this.#last.has(key));
  }

  /** Runs the work while it holds all the keys. They are taken in one order by everyone, so that no two wait for each other. */
  run<T>(keys: readonly string[], work: () => Promise<T>): Promise<T> {
    if (keys.length === 1) return this.#hold(keys[0]!, work);
    return [...new Set(keys)].sort().reduceRight((inner, key) => () => this.#hold(key, inner), work)();
  }

  async #hold<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key);
    let release = () => {};
    const done = new Promise<void>((resolve) => (release = resolve));
    this.#last.set(key, done);
    try {
      if (before) await before;
      return await work();
    } finally {
      release();
      if (this.#last.get(key) === done) this.#last.delete(key);
    }
  }
}
