/**
 * Pauses loading while searches read the files, so that loading does not slow them down.
 *
 * The pause is limited: if such searches never stop, only a loaded index can replace them.
 */
const MAX_PAUSED_MS = 1000;

export class LoadPause {
  readonly #readers: Int32Array;
  readonly #maxPausedMs: number;
  #pausedMs = 0;

  /** Shared with the main thread, which counts the searches in it. */
  constructor(readers: Int32Array, maxPausedMs = MAX_PAUSED_MS) {
    this.#readers = readers;
    this.#maxPausedMs = maxPausedMs;
  }

  /** Total time paused. */
  get pausedMs(): number {
    return this.#pausedMs;
  }

  /** Waits until there is no such search, or until the total pause reaches its limit. */
  wait(): void {
    for (let count = Atomics.load(this.#readers, 0); count > 0; count = Atomics.load(this.#readers, 0)) {
      const leftMs = this.#maxPausedMs - this.#pausedMs;
      if (leftMs <= 0) return;
      const startedMs = performance.now();
      Atomics.wait(this.#readers, 0, count, leftMs);
      this.#pausedMs += performance.now() - startedMs;
    }
  }
}
