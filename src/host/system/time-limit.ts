/** Time limit of a search or a replacement: a short pattern can take minutes. */

export class TimeLimitError extends Error {
  override readonly name = 'TimeLimitError';

  constructor(timeoutMs: number, progress = '') {
    super(`not done after ${timeoutMs} ms${progress}; search less, simplify the pattern, or raise search_timeout_ms`);
  }
}

export class TimeLimit implements Disposable {
  /** Aborts when the time is up, and when the given signal does. */
  readonly signal: AbortSignal;
  readonly #timer: NodeJS.Timeout | undefined;
  #reason: TimeLimitError | undefined;

  constructor(timeoutMs: number | undefined, signal: AbortSignal) {
    this.signal = signal;
    if (timeoutMs === undefined) return;

    const own = new AbortController();
    this.signal = AbortSignal.any([signal, own.signal]);
    this.#timer = setTimeout(() => {
      this.#reason = new TimeLimitError(timeoutMs);
      own.abort(this.#reason);
    }, timeoutMs).unref();
  }

  /** Whether an error was thrown because the time was up. */
  isBehind(thrown: unknown): boolean {
    return this.#reason !== undefined && thrown === this.#reason;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}
