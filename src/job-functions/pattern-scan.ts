/**
 * Searches output that is still being written for a line that matches a pattern.
 *
 * Each stream has lines of its own. The unfinished last line is searched too, and again when it has grown.
 */
import type { OutputRing, OutputStream, RegexThreads } from '#host';
import { stripAnsi } from './strip-ansi.ts';

/** Bytes that are read at a time. */
const STEP_BYTES = 262_144;
/** Longest searched line; of a longer one only the end is searched. */
const MAX_LINE_BYTES = 65_536;
const MAX_SHOWN_CHARS = 1000;
const LINE_FEED = 0x0a;

export interface FoundLine {
  /** Where the line begins, in bytes of the output. */
  readonly offset: number;
  readonly line: string;
}

interface Asked {
  readonly since: number;
  readonly pattern: string;
  /** Both streams when absent. */
  readonly stream?: OutputStream | undefined;
  readonly stripsAnsi: boolean;
}

/** Bytes of one stream with their offsets. */
interface Segment {
  readonly at: number;
  readonly bytes: Buffer;
}

export class PatternScan {
  readonly #ring: OutputRing;
  readonly #regexes: RegexThreads;
  readonly #asked: Asked;
  /** Unfinished last lines. */
  #open: Record<OutputStream, Segment[]> = { stdout: [], stderr: [] };
  #next: number;

  constructor(ring: OutputRing, regexes: RegexThreads, asked: Asked) {
    this.#ring = ring;
    this.#regexes = regexes;
    this.#asked = asked;
    this.#next = asked.since;
  }

  /** Throws `RegexError` for an invalid pattern, also while there is no output. */
  async check(signal: AbortSignal): Promise<void> {
    await this.#search(Buffer.alloc(0), signal);
  }

  /** Returns the first matching line in the output since the last scan. */
  async scan(signal: AbortSignal): Promise<FoundLine | undefined> {
    while (this.#next < this.#ring.end) {
      const { from, next, pieces } = this.#ring.read(this.#next, STEP_BYTES);
      // Bytes in between were dropped: the next byte is in another line.
      if (from > this.#next) this.#open = { stdout: [], stderr: [] };
      this.#next = next;
      for (const { stream, at, bytes } of pieces) this.#open[stream].push({ at, bytes });
      for (const stream of [...new Set(pieces.map((piece) => piece.stream))]) {
        if (this.#asked.stream !== undefined && stream !== this.#asked.stream) this.#open[stream] = [];
        const found = await this.#scanStream(stream, signal);
        if (found) return found;
      }
    }
    return undefined;
  }

  async #scanStream(stream: OutputStream, signal: AbortSignal): Promise<FoundLine | undefined> {
    const segments = this.#open[stream];
    const bytes = Buffer.concat(segments.map((segment) => segment.bytes));
    // Only valid UTF-8 is searched. Neither step changes the number of lines.
    const text = this.#asked.stripsAnsi ? stripAnsi(bytes.toString()) : bytes.toString();
    const shown = Buffer.from(text);
    const [match] = await this.#search(shown, signal);
    if (match) {
      const line = shown.toString('utf8', match.lineStart, match.lineEnd).slice(0, MAX_SHOWN_CHARS);
      const lineNumber = shown.subarray(0, match.lineStart).filter((byte) => byte === LINE_FEED).length;
      return { offset: offsetAt(segments, lineStart(bytes, lineNumber)), line };
    }
    const kept = Math.max(bytes.lastIndexOf(LINE_FEED) + 1, bytes.length - MAX_LINE_BYTES);
    this.#open[stream] = after(segments, kept);
    return undefined;
  }

  #search(text: Buffer, signal: AbortSignal) {
    return this.#regexes.findLines({ pattern: this.#asked.pattern, text, limit: 1 }, { signal });
  }
}

function lineStart(bytes: Buffer, lineNumber: number): number {
  let at = 0;
  for (let line = 0; line < lineNumber; line++) at = bytes.indexOf(LINE_FEED, at) + 1;
  return at;
}

function offsetAt(segments: readonly Segment[], index: number): number {
  let left = index;
  for (const { at, bytes } of segments) {
    if (left < bytes.length) return at + left;
    left -= bytes.length;
  }
  throw new RangeError(`${index} is beyond the last segment`);
}

function after(segments: readonly Segment[], index: number): Segment[] {
  let skipped = index;
  return segments.flatMap(({ at, bytes }) => {
    const cut = Math.min(skipped, bytes.length);
    skipped -= cut;
    return cut < bytes.length ? [{ at: at + cut, bytes: bytes.subarray(cut) }] : [];
  });
}
