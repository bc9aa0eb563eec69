/**
 * One block of a file, in the only memory in which the kernels can count its newlines.
 *
 * `load` uses one block that the whole process shares and the next load overwrites, so nothing else may run between the
 * load and the last use; a text in a block of its own stays there.
 */
import { kernelsOn, newMemory, PAGE_BYTES, type Kernels } from '../kernels/index.ts';

/** Bytes with random access. */
export interface ByteSource {
  readonly size: number;
  /** Fills the target from the position, as far as there are bytes; returns their number. */
  readAt(target: Buffer, position: number): number;
}

/** Bytes in memory, read as if from a file. */
export function bytesAsSource(bytes: Buffer): ByteSource {
  return { size: bytes.length, readAt: (target, position) => bytes.copy(target, 0, position) };
}

export const BLOCK_BYTES = 1 << 20;

/** Bytes counted at once in the search for one of many newlines. */
const STEP_BYTES = 4096;

/** Up to this many lines, scanning from one to the next is faster than counting. */
const NEAR_LINES = 16;

/** The kernels may read some bytes past the end of a text. */
const SLACK_PAGES = 1;

const NEWLINE = 10;

export class LineBlock {
  static #shared: LineBlock | undefined;
  /** Blocks that callers own, by their memory. */
  static readonly #owned = new WeakMap<ArrayBufferLike, LineBlock>();
  readonly #bytes: Buffer;
  readonly #kernels: Kernels;
  #length = 0;

  private constructor() {
    const memory = newMemory(BLOCK_BYTES / PAGE_BYTES + SLACK_PAGES);
    this.#kernels = kernelsOn(memory);
    this.#bytes = Buffer.from(memory.buffer, 0, BLOCK_BYTES);
  }

  /** Loads the bytes from a position on, as many as fit and are wanted. */
  static load(source: ByteSource, position: number, atMost = BLOCK_BYTES): LineBlock {
    this.#shared ??= new LineBlock();
    this.#shared.#length = source.readAt(this.#shared.#bytes.subarray(0, atMost), position);
    return this.#shared;
  }

  /** Memory for a text whose lines are then found without a copy, if the text starts at its beginning. */
  static newMemory(): Buffer {
    const block = new LineBlock();
    this.#owned.set(block.#bytes.buffer, block);
    return block.#bytes;
  }

  /** The bytes of a text from a position on, as many as fit. */
  static of(text: Buffer, position: number): LineBlock {
    const block = text.byteOffset === 0 && this.#owned.get(text.buffer);
    if (!block) return this.load(bytesAsSource(text), position);

    block.#length = text.length;
    return block;
  }

  get length(): number {
    return this.#length;
  }

  get newlines(): number {
    return this.#kernels.countNewlines(0, this.#length);
  }

  /** Whether nothing follows the last newline. */
  get endsInNewline(): boolean {
    return this.#length === 0 || this.#bytes[this.#length - 1] === NEWLINE;
  }

  /** Offset after the n-th newline, from 1; the end if there are fewer. */
  behindNewline(n: number): number {
    return this.#behindNewline(n, 0, this.#length);
  }

  /** The same for many newlines, in ascending order; all must exist. */
  behindNewlines(numbers: readonly number[]): number[] {
    let [step, before] = [0, 0];
    let [offset, reached] = [0, 0];
    return numbers.map((n) => {
      if (n - reached <= NEAR_LINES) {
        for (; reached < n; reached++) offset = this.#bytes.indexOf(NEWLINE, offset) + 1;
        return offset;
      }
      for (let here = this.#newlinesIn(step); before + here < n; here = this.#newlinesIn(step)) {
        before += here;
        step += STEP_BYTES;
      }
      reached = n;
      return (offset = this.#behindNewline(n - before, step, Math.min(step + STEP_BYTES, this.#length)));
    });
  }

  /** Newlines in the step that begins at `at`. */
  #newlinesIn(at: number): number {
    return this.#kernels.countNewlines(at, Math.min(STEP_BYTES, this.#length - at));
  }

  #behindNewline(n: number, from: number, to: number): number {
    let at = from;
    let left = n;
    // Bisection counts every byte twice at most, however short the lines are.
    for (let length = to - from; length > 1;) {
      const half = length >> 1;
      const newlines = this.#kernels.countNewlines(at, half);
      if (newlines >= left) {
        length = half;
      } else {
        left -= newlines;
        at += half;
        length -= half;
      }
    }
    return Math.min(at + 1, to);
  }

  /** A copy of the first bytes. */
  first(length: number): Buffer {
    return Buffer.from(this.#bytes.subarray(0, length));
  }
}
