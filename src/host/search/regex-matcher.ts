/**
 * Lines that match a regex, each searched alone.
 *
 * Most regexes cannot match without one of a few literals. Where those are rare only their lines are given to the
 * regex, which is why such a search is nearly as fast as one for a literal.
 */
import { requiredLiterals, type Regex } from '../regex/index.ts';
import { lineAround, newlineAfter, type Hit, type TextRange } from './lines.ts';
import { Needle } from './needle.ts';
import type { TextMemory } from './text-memory.ts';
import { asUtf8 } from './utf8.ts';

const FIRST_NEEDLE_ADDRESS = 64;

/** Beyond this share of a text, its lines one by one cost more than all at once. */
const MAX_CANDIDATE_SHARE = 1 / 8;

const REPLACEMENT = Buffer.from('\uFFFD');

export class RegexMatcher {
  readonly #regex: Regex;
  readonly #memory: TextMemory;
  readonly #needles: Needle[] | undefined;

  constructor(regex: Regex, memory: TextMemory) {
    this.#regex = regex;
    this.#memory = memory;
    this.#needles = placeNeedles(requiredLiterals(regex), memory);
  }

  matchesPath(path: string): boolean {
    return this.#regex.isMatch(Buffer.from(path));
  }

  find(given: TextRange, limit: number): { text: TextRange; hits: Hit[] } {
    if (this.#needles?.every((needle) => needle.find(given.start, given.end) < 0)) return { text: given, hits: [] };

    const text = asUtf8(this.#memory, given);
    const candidates = this.#needles && this.#linesWithNeedles(this.#needles, text);
    return { text, hits: candidates ? this.#findAmong(candidates, limit) : this.#findInAll(text, limit) };
  }

  /** Undefined when they are too many. */
  #linesWithNeedles(needles: Needle[], text: TextRange): TextRange[] | undefined {
    let bytesLeft = (text.end - text.start) * MAX_CANDIDATE_SHARE;
    const lines = new Map<number, TextRange>();
    for (const needle of needles) {
      for (let at = needle.find(text.start, text.end); at >= 0;) {
        const line = lineAround(this.#memory, text, at);
        if (!lines.has(line.start)) bytesLeft -= line.end - line.start;
        if (bytesLeft < 0) return undefined;
        lines.set(line.start, line);
        at = needle.find(Math.min(newlineAfter(this.#memory, text, line.end) + 1, text.end), text.end);
      }
    }
    return [...lines.values()].sort((a, b) => a.start - b.start);
  }

  #findAmong(lines: TextRange[], limit: number): Hit[] {
    const hits: Hit[] = [];
    for (const { start, end } of lines) {
      if (hits.length === limit) break;
      const match = this.#regex.find(this.#memory.buffer.subarray(start, end));
      if (match) hits.push({ lineStart: start, lineEnd: end, matchStart: start + match.start });
    }
    return hits;
  }

  #findInAll({ start, end }: TextRange, limit: number): Hit[] {
    return this.#regex.findLines(this.#memory.buffer.subarray(start, end), { limit }).map((line) => ({
      lineStart: start + line.lineStart,
      lineEnd: start + line.lineEnd,
      matchStart: start + line.matchStart,
    }));
  }
}

/** None for literals with a character that can stand for bytes which are something else in the file. */
function placeNeedles(literals: readonly Uint8Array[] | undefined, memory: TextMemory): Needle[] | undefined {
  if (!literals || literals.some((bytes) => Buffer.from(bytes).includes(REPLACEMENT))) return undefined;
  let address = FIRST_NEEDLE_ADDRESS;
  return literals.map((bytes) => {
    const needle = new Needle(memory, address, bytes);
    address += bytes.length;
    return needle;
  });
}
