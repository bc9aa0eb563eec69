/** Takes exact numbers of bytes from a stream of chunks. Holds one chunk. */
export class ByteStream {
  readonly #source: AsyncIterator<Uint8Array>;
  #chunk: Buffer = Buffer.alloc(0);
  #isOver = false;
  /** Number of bytes that were taken. */
  offset = 0;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Exactly this many bytes, or fewer at the end of the stream. */
  async take(count: number): Promise<Buffer> {
    const first = await this.some(count);
    if (first.length === count || first.length === 0) return first;

    const pieces = [first];
    let taken = first.length;
    while (taken < count) {
      const piece = await this.some(count - taken);
      if (piece.length === 0) break;
      pieces.push(piece);
      taken += piece.length;
    }
    return Buffer.concat(pieces);
  }

  /** The buffered bytes or the next chunk, at most this much; empty only at the end. */
  async some(maxBytes: number): Promise<Buffer> {
    while (this.#chunk.length === 0 && !this.#isOver && maxBytes > 0) {
      const { value, done } = await this.#source.next();
      if (done) this.#isOver = true;
      else this.#chunk = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    }
    const piece = this.#chunk.subarray(0, maxBytes);
    this.#chunk = this.#chunk.subarray(piece.length);
    this.offset += piece.length;
    return piece;
  }

  /** Reads to the end, so that a counter or hash of the source sees all of it. */
  async drain(): Promise<void> {
    while ((await this.some(Number.MAX_SAFE_INTEGER)).length > 0);
  }

  async close(): Promise<void> {
    await this.#source.return?.();
  }
}
