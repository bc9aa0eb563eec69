/** Runs work side by side, a bounded number at once, and keeps the first error until the caller asks for it. */

export class ConcurrencyLimit {
  readonly #count: number;
  readonly #running = new Set<Promise<void>>();
  #failed: { error: unknown } | undefined;

  constructor(count: number) {
    this.#count = count;
  }

  /** Takes work that has begun; resolves when there is room for more. Throws the error of an earlier one. */
  async start(work: Promise<void>): Promise<void> {
    const running: Promise<void> = work
      .catch((error: unknown) => void (this.#failed ??= { error }))
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
    if (this.#running.size >= this.#count) await Promise.race(this.#running);
    if (this.#failed) throw this.#failed.error;
  }

  /** Resolves when all of it has ended, also if some failed: then it throws the first error. */
  async ended(): Promise<void> {
    await Promise.all(this.#running);
    if (this.#failed) throw this.#failed.error;
  }
}
