/**
 * The first bytes of a stream, up to a cap; the rest is dropped and recorded as cut.
 *
 * Pieces are copied: one may be a view of a larger block, which would stay in memory with it.
 */

const FIRST_BLOCK_BYTES = 4096;

export class KeptOutput {
  droppedBytes = 0;
  readonly #maxBytes: number;
  #block = Buffer.alloc(0);
  #length = 0;

  constructor(maxBytes = Infinity) {
    this.#maxBytes = maxBytes;
  }

  get length(): number {
    return this.#length;
  }

  add(chunk: Uint8Array): void {
    const wanted = Math.min(chunk.length, this.#maxBytes - this.#length);
    this.droppedBytes += chunk.length - wanted;
    if (wanted === 0) return;

    this.#makeRoom(this.#length + wanted);
    this.#block.set(wanted < chunk.length ? chunk.subarray(0, wanted) : chunk, this.#length);
    this.#length += wanted;
  }

  /** Keeps these bytes instead. */
  replace(bytes: Uint8Array): void {
    this.#block = Buffer.alloc(0);
    this.#length = 0;
    this.droppedBytes = 0;
    this.add(bytes);
    this.trim();
  }

  get isTruncated(): boolean {
    return this.droppedBytes > 0;
  }

  /** A view, without a copy: kept bytes are never overwritten. */
  get bytes(): Buffer {
    return this.#block.subarray(0, this.#length);
  }

  /** Copies the kept bytes to a block of their own size; call it after the last byte. */
  trim(): void {
    if (this.#block.length === this.#length) return;
    const block = Buffer.allocUnsafeSlow(this.#length);
    this.#block.copy(block);
    this.#block = block;
  }

  #makeRoom(length: number): void {
    if (length <= this.#block.length) return;
    const size = Math.min(this.#maxBytes, Math.max(length, 2 * this.#block.length, FIRST_BLOCK_BYTES));
    const block = Buffer.allocUnsafeSlow(size);
    this.#block.copy(block, 0, 0, this.#length);
    this.#block = block;
  }
}
