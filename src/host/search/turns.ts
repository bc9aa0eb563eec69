/** Lets others run while long work goes on. */
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

  /** Waits until others had their turn; throws when nobody waits for the work any more. */
  async next(): Promise<void> {
    await nextTurn();
    this.#signal.throwIfAborted();
    this.#since = performance.now();
  }
}
