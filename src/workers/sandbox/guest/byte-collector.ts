/**
 * Bytes that come in pieces, as one growing buffer.
 *
 * They are copied: a piece is a view of the block it was read into, and a guest that sends single bytes would keep a
 * whole block alive with each.
 */
const FIRST_BYTES = 4096;

export class ByteCollector {
  #buffer = Buffer.alloc(0);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(piece: Uint8Array): void {
    const needed = this.#length + piece.length;
    if (needed > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(needed, this.#buffer.length * 2, FIRST_BYTES));
      this.#buffer.copy(larger, 0, 0, this.#length);
      this.#buffer = larger;
    }
    this.#buffer.set(piece, this.#length);
    this.#length = needed;
  }

  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }
}
