/**
 * How far the index is with loading, and whether to wait for it: when that takes no longer than reading the files once
 * more would.
 */
export class LoadProgress {
  #startedMs = 0;
  #files = 0;
  /** Of the last search that read the whole tree. */
  #reading: { files: number; ms: number } | undefined;
  #onEnd: (() => void)[] = [];

  /** So many files are loaded. */
  note(files: number): void {
    if (files === 0) this.#startedMs = performance.now();
    this.#files = files;
  }

  noteReading(files: number, ms: number): void {
    this.#reading = { files, ms };
  }

  /** It is loaded, or never will be. */
  end(): void {
    this.#files = 0;
    for (const tell of this.#onEnd.splice(0)) tell();
  }

  /** Resolves when it has ended if that is worth waiting for, and otherwise at once. */
  async endsSoon(signal: AbortSignal): Promise<void> {
    const reading = this.#reading;
    if (!reading || this.#files === 0) return;
    const msPerFile = (performance.now() - this.#startedMs) / this.#files;
    if ((reading.files - this.#files) * msPerFile > reading.ms) return;
    await new Promise<void>((resolve) => {
      this.#onEnd.push(resolve);
      signal.addEventListener('abort', () => resolve(), { once: true });
      setTimeout(resolve, PATIENCE * reading.ms).unref();
    });
    signal.throwIfAborted();
  }
}

/** What is left may take longer than what was done. */
const PATIENCE = 2;
