/**
 * Finds lines that contain a literal in any case: both are compared in Unicode lower case.
 *
 * An ASCII literal is searched by folding ASCII letters only, which is exact unless the text contains one of the few
 * characters beyond ASCII whose lower case is in it: K (U+212A) and İ. Such texts, and literals beyond ASCII, are
 * lower-cased as a whole.
 */
import { isAscii } from 'node:buffer';

import { newlineAfter, lineEnd, type Hit, type TextRange } from './lines.ts';
import { Needle } from './needle.ts';
import type { TextMemory } from './text-memory.ts';
import { asUtf8 } from './utf8.ts';

const NEEDLE_ADDRESS = 64;

export class FoldedMatcher {
  readonly #lower: string;
  readonly #memory: TextMemory;
  /** Needle of an ASCII literal. */
  readonly #needle: Needle | undefined;
  readonly #hasStrangers: boolean;

  constructor(pattern: string, memory: TextMemory) {
    this.#lower = pattern.toLowerCase();
    this.#memory = memory;
    const bytes = Buffer.from(this.#lower);
    this.#needle = isAscii(bytes) ? new Needle(memory, NEEDLE_ADDRESS, bytes, { isFolded: true }) : undefined;
    this.#hasStrangers = /[ik]/.test(this.#lower);
  }

  matchesPath(path: string): boolean {
    return path.toLowerCase().includes(this.#lower);
  }

  find(given: TextRange, limit: number): { text: TextRange; hits: Hit[] } {
    const { kernels, buffer } = this.#memory;
    const length = given.end - given.start;
    if (this.#needle) {
      const isExact = !this.#hasStrangers || !kernels.hasCaseStrangers(given.start, length);
      if (isExact) return { text: given, hits: this.#needle.findLines(given, limit) };
    } else if (isAscii(buffer.subarray(given.start, given.end))) {
      return { text: given, hits: [] };
    }
    return this.#findInLowerCase(given, limit);
  }

  #findInLowerCase(given: TextRange, limit: number): { text: TextRange; hits: Hit[] } {
    const text = asUtf8(this.#memory, given);
    const hits: Hit[] = [];
    const whole = this.#memory.buffer.toString('utf8', text.start, text.end);
    if (!whole.toLowerCase().includes(this.#lower)) return { text, hits };

    for (let lineStart = text.start; lineStart < text.end && hits.length < limit;) {
      const end = lineEnd(this.#memory, text, lineStart, lineStart);
      const line = this.#memory.buffer.toString('utf8', lineStart, end).toLowerCase();
      const at = line.indexOf(this.#lower);
      // An offset in the lower-cased line need not be one in the line; the contract reports the former as column.
      if (at >= 0) {
        const column = Buffer.byteLength(line.slice(0, at)) + 1;
        hits.push({ lineStart, lineEnd: end, matchStart: lineStart, column });
      }
      lineStart = newlineAfter(this.#memory, text, end) + 1;
    }
    return { text, hits };
  }
}
