/** A run of characters of given sets, searched for by the kernel. */
import { ASCII_CHARS, type CharSet } from '../../regex/index.ts';
import { bitsOfSet } from './commonness.ts';
import type { TextMemory } from './text-memory.ts';

const TABLE_BYTES = 16;
const LOWER_HALF = 15;

export class CharRun {
  readonly #memory: TextMemory;
  readonly #tables: number;
  readonly #offsets: number;
  readonly #length: number;

  /** Stored at an address below `TEXT_START`; takes `CharRun.bytesOf` bytes. */
  constructor(memory: TextMemory, address: number, run: readonly CharSet[]) {
    this.#memory = memory;
    this.#length = run.length;
    this.#tables = address;
    this.#offsets = address + TABLE_BYTES * run.length;
    const rarestFirst = Array.from(run.keys()).sort((a, b) => bitsOfSet(run[b]!) - bitsOfSet(run[a]!));
    rarestFirst.forEach((position, i) => {
      memory.buffer.set(tableOf(run[position]!), this.#tables + TABLE_BYTES * i);
      memory.buffer[this.#offsets + i] = position;
    });
  }

  static bytesOf(run: readonly CharSet[]): number {
    return (TABLE_BYTES + 1) * run.length;
  }

  /** Address of the first occurrence at or after `from` and before `end`; -1 when there is none. */
  find(from: number, end: number): number {
    const length = this.#length;
    const found = this.#memory.kernels.findRun(from, end - from, this.#tables, this.#offsets, length, length);
    return found < 0 ? -1 : from + found;
  }
}

function tableOf(set: CharSet): Uint8Array {
  const table = new Uint8Array(TABLE_BYTES);
  for (let char = 0; char < ASCII_CHARS; char++) if (set[char]) table[char & LOWER_HALF]! |= 1 << (char >> 4);
  return table;
}
