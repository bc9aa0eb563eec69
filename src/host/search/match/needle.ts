/**
 * A byte string to search for, stored where the kernels can read it.
 *
 * They compare two of its bytes before the rest. The rarer those are in ordinary text, the faster.
 */
import { BITS } from './commonness.ts';
import { newlineAfter, type Hit, type TextRange } from './lines.ts';
import type { TextMemory } from './text-memory.ts';

/** Probe bytes are chosen among this many first bytes. */
const MAX_PROBE = 256;

/** Most lines found by one kernel call. */
const LINES_AT_ONCE = 1024;

export class Needle {
  readonly length: number;
  readonly #memory: TextMemory;
  readonly #address: number;
  readonly #probeA: number;
  readonly #probeB: number;
  readonly #isFolded: boolean;

  /** Stored at an address below `TEXT_START`. A folded needle is in lower case and matches any case of ASCII letters. */
  constructor(memory: TextMemory, address: number, bytes: Uint8Array, options: { isFolded?: boolean } = {}) {
    this.length = bytes.length;
    this.#memory = memory;
    this.#address = address;
    this.#isFolded = options.isFolded ?? false;
    memory.buffer.set(bytes, address);
    this.#probeA = rarestIn(bytes);
    this.#probeB = bytes.length > 1 ? rarestIn(bytes, { except: this.#probeA }) : this.#probeA;
  }

  /** Address of the first occurrence at or after `from` and before `end`; -1 when there is none. */
  find(from: number, end: number): number {
    const { kernels } = this.#memory;
    const found = this.#isFolded
      ? kernels.findFolded(from, end - from, this.#address, this.length, this.#probeA, this.#probeB)
      : kernels.find(from, end - from, this.#address, this.length, this.#probeA, this.#probeB);
    return found < 0 ? -1 : from + found;
  }

  /** The lines that contain it, by its first occurrence in each, at most `limit`; results are written after the text. */
  findLines(text: TextRange, limit: number): Hit[] {
    const hits: Hit[] = [];
    if (this.find(text.start, text.end) < 0) return hits;
    for (let from = text.start; from < text.end && hits.length < limit;) {
      const rows = this.#memory.rowsBehind(text.end, LINES_AT_ONCE);
      const max = Math.min(LINES_AT_ONCE, limit - hits.length);
      const count = this.#linesIn(from, text.end, rows.byteOffset, max);
      for (let i = 0; i < 3 * count; i += 3) {
        hits.push({ lineStart: rows[i]!, lineEnd: rows[i + 1]!, matchStart: rows[i + 2]! });
      }
      if (count < max) break;
      from = newlineAfter(this.#memory, text, hits.at(-1)!.lineEnd) + 1;
    }
    return hits;
  }

  #linesIn(from: number, end: number, to: number, max: number): number {
    const { kernels } = this.#memory;
    const [address, length, isFolded] = [this.#address, this.length, this.#isFolded];
    return kernels.findLines(from, end - from, address, length, this.#probeA, this.#probeB, isFolded, to, max);
  }
}

/** Index of the rarest of the first bytes, except one. */
function rarestIn(bytes: Uint8Array, { except = -1 } = {}): number {
  let [rarest, most] = [0, -Infinity];
  for (let at = 0; at < Math.min(bytes.length, MAX_PROBE); at++) {
    const bits = BITS[bytes[at]!]!;
    if (at !== except && bits > most) [rarest, most] = [at, bits];
  }
  return rarest;
}
