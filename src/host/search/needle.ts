/**
 * A byte string to look for, placed where the kernels reach it.
 *
 * They compare two of its bytes before the rest. The rarer those are in ordinary text, the faster.
 */
import { BITS } from './commonness.ts';
import type { TextMemory } from './text-memory.ts';

/** Probes stand near the beginning, whatever the length. */
const MAX_PROBE = 256;

export class Needle {
  readonly length: number;
  readonly #memory: TextMemory;
  readonly #address: number;
  readonly #probeA: number;
  readonly #probeB: number;
  readonly #isFolded: boolean;

  /** Placed at an address below `TEXT_START`. A folded one is in lower case and found in any case of ASCII letters. */
  constructor(memory: TextMemory, address: number, bytes: Uint8Array, options: { isFolded?: boolean } = {}) {
    this.length = bytes.length;
    this.#memory = memory;
    this.#address = address;
    this.#isFolded = options.isFolded ?? false;
    memory.buffer.set(bytes, address);
    this.#probeA = rarestIn(bytes);
    this.#probeB = bytes.length > 1 ? rarestIn(bytes, { except: this.#probeA }) : this.#probeA;
  }

  /** The first place at or after `from` and before `end` where it stands, as an address; -1 when there is none. */
  find(from: number, end: number): number {
    const { kernels } = this.#memory;
    const found = this.#isFolded
      ? kernels.findFolded(from, end - from, this.#address, this.length, this.#probeA, this.#probeB)
      : kernels.find(from, end - from, this.#address, this.length, this.#probeA, this.#probeB);
    return found < 0 ? -1 : from + found;
  }
}

/** Where the rarest of the first bytes stands, but for one. */
function rarestIn(bytes: Uint8Array, { except = -1 } = {}): number {
  let [rarest, most] = [0, -Infinity];
  for (let at = 0; at < Math.min(bytes.length, MAX_PROBE); at++) {
    const bits = BITS[bytes[at]!]!;
    if (at !== except && bits > most) [rarest, most] = [at, bits];
  }
  return rarest;
}
