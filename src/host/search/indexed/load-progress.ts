/**
 * Tracks how far the index has loaded, and decides whether a search waits for it.
 *
 * Every search that reads the files instead delays the index, so a search waits as long as a few such searches take.
 */

/** A search waits no longer than this many searches that read the files would take. */
const WORTH_SEARCHES = 3;

export class LoadProgress {
  #loaded = { files: 0, ms: 0 };
  /** Duration of the last search that read the whole tree. */
  #reading: { files: number; ms: number } | undefined;
  #onEnd: (() => void)[] = [];

  /** Files loaded so far, and the working time. */
  note({ files, ms }: { files: number; ms: number }): void {
    this.#loaded = { files, ms };
  }

  noteReading(files: number, ms: number): void {
    this.#reading = { files, ms };
  }

  /** Loading has finished or failed. */
  end(): void {
    this.#loaded = { files: 0, ms: 0 };
    for (const onEnd of this.#onEnd.splice(0)) onEnd();
  }

  ended(): Promise<void> {
    return new Promise((resolve) => this.#onEnd.push(resolve));
  }

  /** Resolves when loading ends if that is worth waiting for, and otherwise at once. */
  async endsSoon(signal: AbortSignal): Promise<void> {
    const { files, ms } = this.#loaded;
    if (!this.#reading || files === 0) return;
    const worthMs = WORTH_SEARCHES * this.#reading.ms;
    if (((this.#reading.files - files) * ms) / files > worthMs) return;

    let timer: NodeJS.Timeout | undefined;
    let stop = () => {};
    await new Promise<void>((resolve) => {
      stop = () => resolve();
      this.#onEnd.push(stop);
      signal.addEventListener('abort', stop, { once: true });
      // The rest may take longer than the part that is done.
      timer = setTimeout(stop, 2 * worthMs);
    });
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
    signal.throwIfAborted();
  }
}
