/**
 * The last bytes of both output streams of a process, in the order they came, in constant memory.
 *
 * Every byte has an absolute offset, so a reader that comes back names where it stopped, and learns exactly how much
 * was dropped since.
 */
import type { OutputStream } from './process.ts';

const FIRST_BLOCK_BYTES = 4096;
/** Two programs writing single bytes in turn would need more memory for the marks than for the bytes. */
const MAX_MARKS = 16_384;

/** From this offset on, bytes belong to this stream. */
interface Mark {
  readonly at: number;
  readonly stream: OutputStream;
}

export interface RingPiece {
  readonly stream: OutputStream;
  readonly at: number;
  /** A copy. */
  readonly bytes: Buffer;
}

export interface RingRead {
  /** The first offset that was read; later than the requested one if bytes were dropped. */
  readonly from: number;
  /** Offset for the next read. */
  readonly next: number;
  readonly pieces: readonly RingPiece[];
}

export class OutputRing {
  readonly #capacity: number;
  readonly #listeners = new Set<() => void>();
  #block = Buffer.alloc(0);
  /** Offset of the first byte of the block, as long as nothing wrapped around. */
  #base = 0;
  #start = 0;
  #end = 0;
  #marks: Mark[] = [];
  /** Marks before this one are dropped; they are removed together, since each removal moves all others. */
  #firstMark = 0;
  #isFinished = false;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Offset of the oldest byte that is kept. */
  get start(): number {
    return this.#start;
  }

  /** Offset of the next byte: the number of bytes so far. */
  get end(): number {
    return this.#end;
  }

  /** Whether the output has ended. */
  get isFinished(): boolean {
    return this.#isFinished;
  }

  /** Bytes of memory in use. */
  get bufferedBytes(): number {
    return this.#block.length;
  }

  get listenerCount(): number {
    return this.#listeners.size;
  }

  add(stream: OutputStream, bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    if (this.#marks.at(-1)?.stream !== stream) this.#marks.push({ at: this.#end, stream });
    this.#makeRoom(this.#end + bytes.length);
    const kept = bytes.length > this.#capacity ? bytes.subarray(bytes.length - this.#capacity) : bytes;
    this.#end += bytes.length;
    const index = (this.#end - kept.length) % this.#block.length;
    const head = kept.subarray(0, this.#block.length - index);
    this.#block.set(head, index);
    if (head.length < kept.length) this.#block.set(kept.subarray(head.length), 0);
    this.#drop();
    this.#report();
  }

  /** Marks the end of the output, and frees unused memory. */
  finish(): void {
    if (this.#isFinished) return;
    const block = Buffer.allocUnsafeSlow(this.#end - this.#start);
    this.#copy(this.#start, this.#end, block);
    this.#block = block;
    this.#base = this.#start;
    this.#isFinished = true;
    this.#report();
  }

  /** The bytes from an offset on, which is not beyond the end. */
  read(since: number, maxBytes: number): RingRead {
    const from = Math.max(since, this.#start);
    const next = Math.min(this.#end, from + maxBytes);
    const pieces: RingPiece[] = [];
    for (let mark = this.#markAt(from); mark < this.#marks.length; mark++) {
      const at = Math.max(from, this.#marks[mark]!.at);
      if (at >= next) break;
      const bytes = Buffer.allocUnsafe(Math.min(next, this.#marks[mark + 1]?.at ?? next) - at);
      this.#copy(at, at + bytes.length, bytes);
      pieces.push({ stream: this.#marks[mark]!.stream, at, bytes });
    }
    return { from, next, pieces };
  }

  /** Calls the listener after each change; returns the function that ends this. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves at the next change, or when the signal aborts. */
  async changed(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    let wake = () => {};
    const woken = new Promise<void>((resolve) => (wake = resolve));
    const stop = this.onChange(wake);
    signal.addEventListener('abort', wake, { once: true });
    await woken;
    signal.removeEventListener('abort', wake);
    stop();
  }

  #report(): void {
    for (const listener of this.#listeners) listener();
  }

  /** The block grows up to its capacity: most processes write little. */
  #makeRoom(length: number): void {
    const size = this.#block.length;
    if (length <= size || size === this.#capacity) return;
    const block = Buffer.allocUnsafeSlow(Math.min(this.#capacity, Math.max(length, 2 * size, FIRST_BLOCK_BYTES)));
    // Valid because nothing has wrapped around yet.
    this.#block.copy(block, 0, 0, this.#end);
    this.#block = block;
  }

  #drop(): void {
    const newest = this.#marks.length - MAX_MARKS;
    const crowded = newest > this.#firstMark ? this.#marks[newest]!.at : 0;
    this.#start = Math.max(this.#start, this.#end - this.#block.length, crowded);
    this.#firstMark = this.#markAt(this.#start);
    if (this.#firstMark < MAX_MARKS) return;
    this.#marks = this.#marks.slice(this.#firstMark);
    this.#firstMark = 0;
  }

  /** The mark of the byte at an offset. */
  #markAt(offset: number): number {
    let low = this.#firstMark;
    let high = this.#marks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#marks[middle]!.at <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #copy(from: number, to: number, target: Buffer): void {
    if (from === to) return;
    const index = (from - this.#base) % this.#block.length;
    const copied = this.#block.copy(target, 0, index, index + to - from);
    if (copied < to - from) this.#block.copy(target, copied, 0, to - from - copied);
  }
}
