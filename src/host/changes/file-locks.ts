/** Exclusive locks by key, granted in order of arrival. A key without holder or waiter takes no memory. */
export class FileLocks {
  readonly #last = new Map<string, Promise<void>>();

  get size(): number {
    return this.#last.size;
  }

  /** True if no caller holds or waits for any of the keys, so that `run` starts the work at once. */
  areFree(keys: readonly string[]): boolean {
    return !keys.some((key) => this.#last.has(key));
  }

  /** Runs the work while it holds all the keys. Every caller locks them in sorted order, so that none deadlock. */
  async run<T>(keys: readonly string[], work: () => Promise<T>): Promise<T> {
    const ordered = keys.length === 1 ? keys : [...new Set(keys)].sort();
    const releases: (() => void)[] = [];
    try {
      for (const key of ordered) {
        const before = this.#last.get(key);
        releases.push(this.#queue(key));
        if (before) await before;
      }
      return await work();
    } finally {
      for (const release of releases) release();
    }
  }

  /** Queues for a key; returns its release function. */
  #queue(key: string): () => void {
    let release = () => {};
    const done = new Promise<void>((resolve) => (release = resolve));
    this.#last.set(key, done);
    return () => {
      release();
      if (this.#last.get(key) === done) this.#last.delete(key);
    };
  }
}

/** Shared by all jails of this process, because jails may overlap. */
export const fileLocks = new FileLocks();
