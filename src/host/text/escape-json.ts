/**
 * Escapes UTF-8 text for JSON, between the quotes: the bytes that JSON.stringify would produce, without a string.
 *
 * One wasm memory serves the whole process: a piece of the text is copied in, escaped and copied out within one turn.
 */
import { kernelsOn, newMemory, PAGE_BYTES, type Kernels } from '../kernels/index.ts';
import { takeTurn } from '../system/take-turn.ts';

const PIECE_BYTES = 2 * PAGE_BYTES;
/** Most bytes the kernel writes for one byte. */
const MOST_FOR_ONE = 6;
/** The kernel may write some meaningless bytes after the end. */
const SLACK_BYTES = PAGE_BYTES;

/** Takes some milliseconds. */
const PIECES_AT_ONCE = 32;

/** The text must be valid UTF-8. */
export async function escapeJson(text: Buffer, scope: { readonly signal: AbortSignal }): Promise<Buffer[]> {
  const pieces: Buffer[] = [];
  for (let from = 0; from < text.length; from += PIECE_BYTES) {
    if (pieces.length > 0 && pieces.length % PIECES_AT_ONCE === 0) await takeTurn(scope);
    pieces.push(Bench.only.escape(text.subarray(from, from + PIECE_BYTES)));
  }
  return pieces;
}

class Bench {
  static #only: Bench | undefined;
  readonly #bytes: Buffer;
  readonly #kernels: Kernels;

  private constructor() {
    const memory = newMemory((PIECE_BYTES + MOST_FOR_ONE * PIECE_BYTES + SLACK_BYTES) / PAGE_BYTES);
    this.#kernels = kernelsOn(memory);
    this.#bytes = Buffer.from(memory.buffer);
  }

  static get only(): Bench {
    return (this.#only ??= new Bench());
  }

  escape(piece: Buffer): Buffer {
    this.#bytes.set(piece);
    const length = this.#kernels.escapeJson(0, piece.length, PIECE_BYTES);
    return Buffer.from(this.#bytes.subarray(PIECE_BYTES, PIECE_BYTES + length));
  }
}
