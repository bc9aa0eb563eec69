/**
 * Pauses loading while searches read the files, so that loading does not slow them down.
 *
 * The pause is limited: if such searches never stop, only a loaded index can replace them.
 */
const MAX_GIVEN_MS = 1000;

export class GiveWay {
  readonly #readers: Int32Array;
  readonly #maxGivenMs: number;
  #givenMs = 0;

  /** Shared with the main thread, which counts the searches in it. */
  constructor(readers: Int32Array, maxGivenMs = MAX_GIVEN_MS) {
    this.#readers = readers;
    this.#maxGivenMs = maxGivenMs;
  }

  /** Total time paused. */
  get givenMs(): number {
    return this.#givenMs;
  }

  /** Waits until there is no such search, or until the total pause reaches its limit. */
  give(): void {
    for (let count = Atomics.load(this.#readers, 0); count > 0; count = Atomics.load(this.#readers, 0)) {
      const leftMs = this.#maxGivenMs - this.#givenMs;
      if (leftMs <= 0) return;
      const startedMs = performance.now();
      Atomics.wait(this.#readers, 0, count, leftMs);
      this.#givenMs += performance.now() - startedMs;
    }
  }
}
