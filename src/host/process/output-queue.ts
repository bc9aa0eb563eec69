/** Queue of output pieces between the reader of the pipes and the consumer. */
import type { OutputPiece } from './process.ts';

/** Above this many queued bytes, pipes are not read. */
const FULL_BYTES = 1024 * 1024;

export class OutputQueue implements AsyncIterable<OutputPiece> {
  readonly #waiting: OutputPiece[] = [];
  #waitingBytes = 0;
  #isEnded = false;
  #wake = () => {};
  /** Called when there is room again. */
  onRoom = () => {};

  get isFull(): boolean {
    return this.#waitingBytes > FULL_BYTES;
  }

  push(piece: OutputPiece): void {
    this.#waiting.push(piece);
    this.#waitingBytes += piece.bytes.length;
    this.#wake();
  }

  /** Marks the end of the output. */
  end(): void {
    this.#isEnded = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<OutputPiece> {
    for (;;) {
      const next = this.#waiting.shift();
      if (next) {
        const wasFull = this.isFull;
        this.#waitingBytes -= next.bytes.length;
        if (wasFull && !this.isFull) this.onRoom();
        yield next;
      } else if (this.#isEnded) {
        return;
      } else {
        await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    }
  }
}
