/**
 * A connection that a program of the guest made, as a Node stream with the backpressure of the channel.
 *
 * Each direction ends separately. Closing it after its own end lets the guest deliver the written bytes; closing it
 * before resets the connection. The guest is notified even if it ended the connection first: until then it does not
 * reuse the slot.
 */
import { Duplex } from 'node:stream';

import { OP } from './frames.ts';
import type { GuestStream } from './guest-stream.ts';

export class GuestConnection extends Duplex {
  readonly #stream: GuestStream;
  readonly #sendOp: (op: number) => void;
  #hasEnded = false;
  #resume = () => {};

  /** `sendOp` sends a frame to the guest, also after the guest's last one. */
  constructor(stream: GuestStream, sendOp: (op: number) => void) {
    super();
    this.#stream = stream;
    this.#sendOp = sendOp;
    this.on('error', () => {});
    this.#pump().catch(() => this.destroy());
    stream.answer.then(
      () => this.#hasEnded || this.destroy(),
      () => this.destroy(),
    );
  }

  /** Destroys after pending writes are sent, as a socket does. */
  destroySoon(): void {
    if (this.writableFinished) this.destroy();
    else this.end(() => this.destroy());
  }

  async #pump(): Promise<void> {
    for await (const { bytes } of this.#stream.output()) {
      if (this.destroyed) return;
      if (!this.push(bytes)) await new Promise<void>((resolve) => (this.#resume = resolve));
    }
    if (!this.destroyed) this.push(null);
  }

  override _read(): void {
    this.#resume();
  }

  override _write(bytes: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#stream.send(bytes).then(() => done(), done);
  }

  override _final(done: () => void): void {
    this.#hasEnded = true;
    this.#sendOp(OP.end);
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const hasBothEnded = this.#hasEnded && this.readableEnded;
    if (!this.#stream.isOver && !hasBothEnded) this.#stream.abandon();
    else if (!this.#hasEnded) this.#sendOp(OP.cancel);
    this.#resume();
    done(error);
  }
}
