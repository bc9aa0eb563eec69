/** Lines that hold a literal, byte for byte. */
import { lineAround, newlineAfter, type Hit, type TextRange } from './lines.ts';
import { Needle } from './needle.ts';
import type { TextMemory } from './text-memory.ts';
import { asUtf8 } from './utf8.ts';

const NEEDLE_ADDRESS = 64;

export class LiteralMatcher {
  readonly #pattern: string;
  readonly #needle: Needle;
  readonly #memory: TextMemory;

  constructor(pattern: string, memory: TextMemory) {
    this.#pattern = pattern;
    this.#memory = memory;
    this.#needle = new Needle(memory, NEEDLE_ADDRESS, Buffer.from(pattern));
  }

  matchesPath(path: string): boolean {
    return path.includes(this.#pattern);
  }

  find(given: TextRange, limit: number): { text: TextRange; hits: Hit[] } {
    // Only this one character can stand for bytes that are something else in the file.
    const text = this.#pattern.includes('\uFFFD') ? asUtf8(this.#memory, given) : given;
    return { text, hits: linesWith(this.#needle, this.#memory, text, limit) };
  }
}

/** The lines that hold a needle, by its first place in each. */
export function linesWith(needle: Needle, memory: TextMemory, text: TextRange, limit: number): Hit[] {
  const hits: Hit[] = [];
  for (let at = needle.find(text.start, text.end); at >= 0 && hits.length < limit;) {
    const line = lineAround(memory, text, at);
    // A needle may begin in a line and end in its line break, or beyond.
    if (at + needle.length <= line.end) hits.push({ lineStart: line.start, lineEnd: line.end, matchStart: at });
    at = needle.find(Math.min(newlineAfter(memory, text, line.end) + 1, text.end), text.end);
  }
  return hits;
}
