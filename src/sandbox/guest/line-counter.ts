/** Line numbers at ascending offsets of a text. Counts in turns, because a text of newlines only takes seconds. */
import { takeTurn } from '#host';

const LINE_FEED = 0x0a;
const BYTES_AT_ONCE = 256 * 1024;

export class LineCounter {
  readonly #text: Buffer;
  #at = 0;
  #line = 1;
  #turnEnd = BYTES_AT_ONCE;

  constructor(text: Buffer) {
    this.#text = text;
  }

  async lineAt(offset: number, scope: { readonly signal: AbortSignal }): Promise<number> {
    for (;;) {
      const feed = this.#text.indexOf(LINE_FEED, this.#at);
      if (feed < 0 || feed >= offset) return this.#line;
      this.#at = feed + 1;
      this.#line++;
      if (this.#at < this.#turnEnd) continue;
      this.#turnEnd = this.#at + BYTES_AT_ONCE;
      await takeTurn(scope);
    }
  }
}
