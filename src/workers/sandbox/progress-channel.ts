/**
 * How the making of an image goes, told through a channel that the caller gave: one JSON text for each step.
 *
 * Nobody waits for it. A reader that is slow or gone misses steps, and the image is made all the same.
 */
import type { Bus } from '#contract';
import type { ChannelRef, ChannelWriter } from '#protocol';
import { percentOf, STEP_COUNT, stepOf, type ImageProgress } from '#sandbox/images';

export interface ProgressEvent {
  image: string;
  phase: ImageProgress['phase'];
  done_bytes: number;
  total_bytes?: number;
  step: number;
  steps: number;
  /** Of the whole. */
  percent: number;
}

export class ProgressChannel {
  readonly #writer: Promise<ChannelWriter | undefined>;
  #isWriting = false;

  constructor(ref: ChannelRef | undefined, bus: Bus) {
    this.#writer = ref ? bus.openWriter(ref).catch(() => undefined) : Promise.resolve(undefined);
  }

  tell(progress: ImageProgress): void {
    if (this.#isWriting) return;
    this.#isWriting = true;
    const { image, phase, doneBytes, totalBytes } = progress;
    const counted = { step: stepOf(progress), steps: STEP_COUNT, percent: percentOf(progress) };
    const event: ProgressEvent = { image, phase, done_bytes: doneBytes, total_bytes: totalBytes, ...counted };
    void this.#writer
      .then((writer) => writer?.write(JSON.stringify(event)))
      .catch(() => {})
      .finally(() => (this.#isWriting = false));
  }

  /** Ends the stream, whoever reads it. */
  close(): void {
    void this.#writer.then((writer) => writer?.end()).catch(() => {});
  }
}
