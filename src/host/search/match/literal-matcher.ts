/** Finds lines that contain a literal, byte for byte. */
import type { Hit, TextRange } from './lines.ts';
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
    // Only this character may stand for other bytes in the file.
    const text = this.#pattern.includes('\uFFFD') ? asUtf8(this.#memory, given) : given;
    return { text, hits: this.#needle.findLines(text, limit) };
  }
}
