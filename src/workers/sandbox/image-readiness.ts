/**
 * Prepares images before a caller needs them, and continues after a caller has timed out.
 *
 * The work is shared with the calls that want the image: they join it, and it does not end with them.
 */
import { setTimeout as passed } from 'node:timers/promises';

import type { Log } from '#contract';
import { percentOf, type ImageProgress, type Images } from '#sandbox/images';

/** A short-lived server, such as one of a test or a script, builds nothing. */
const START_AFTER_MS = 60_000;

export class ImageReadiness {
  readonly #images: Images;
  readonly #log: Log;
  readonly #control = new AbortController();
  readonly #making = new Map<string, ImageProgress | undefined>();

  constructor(images: Images, log: Log) {
    this.#images = images;
    this.#log = log;
  }

  /** One after the other, after a delay. */
  async prepareLater(names: readonly string[], afterMs = START_AFTER_MS): Promise<void> {
    const { signal } = this.#control;
    await passed(afterMs, undefined, { signal, ref: false }).catch(() => {});
    for (const name of names) {
      if (signal.aborted) return;
      if (!(await this.#images.isCached(name))) await this.keepMaking(name);
    }
  }

  /** Resolves when the image is ready, or failed. */
  async keepMaking(name: string): Promise<void> {
    if (this.#making.has(name)) return;
    this.#making.set(name, undefined);
    const { signal } = this.#control;
    try {
      await this.#images.prepare(name, { signal, onProgress: (step) => this.#making.set(name, step) });
      if (this.#making.get(name)) this.#log.info('image is ready', { image: name });
    } catch (error) {
      if (!signal.aborted)
        this.#log.info('image could not be prepared', { image: name, why: (error as Error).message });
    } finally {
      this.#making.delete(name);
    }
  }

  /** `building, 40 %`. */
  progressOf(name: string): string {
    const step = this.#making.get(name);
    return step === undefined ? 'waiting, 0 %' : `${step.phase}, ${percentOf(step)} %`;
  }

  close(): void {
    this.#control.abort();
  }
}
