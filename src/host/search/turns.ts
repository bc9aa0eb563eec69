/** Yields to the event loop during long work. */
import { setImmediate as nextTurn } from 'node:timers/promises';

export class Turns {
  readonly #signal: Pick<AbortSignal, 'throwIfAborted'>;
  readonly #turnMs: number;
  #since = performance.now();

  constructor(signal: Pick<AbortSignal, 'throwIfAborted'>, turnMs: number) {
    this.#signal = signal;
    this.#turnMs = turnMs;
  }

  get isOver(): boolean {
    return performance.now() - this.#since > this.#turnMs;
  }

  /** Yields; throws when the caller has gone away. */
  async next(): Promise<void> {
    await nextTurn();
    this.#signal.throwIfAborted();
    this.#since = performance.now();
  }
}
