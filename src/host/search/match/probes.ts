/**
 * Byte strings or character runs that every line matching a regex contains, and which of them is searched first.
 *
 * The rarest is searched first: only lines that contain it are examined, and only those that contain all the others too
 * reach the regex. Rarity is estimated at first and then measured while texts are searched: `struct` and `_ops` seem
 * alike, but not in C.
 */
import { requiredLiterals, type CharSet, type Regex } from '../../regex/index.ts';
import { CharRun } from './char-run.ts';
import { bitsOfSet, bitsOfText } from './commonness.ts';
import { Needle } from './needle.ts';
import type { TextMemory } from './text-memory.ts';

interface Finder {
  /** Called before the search of another text. */
  begin?(): void;
  /** Address of the first occurrence at or after `from` and before `end`; -1 when there is none. */
  find(from: number, end: number): number;
}

/** After this much text, the measured rarity weighs as much as the estimate. */
const SURE_BYTES = 65_536;

/** A more common run is in every second line. */
const MIN_RUN_BITS = 8;
const MAX_RUNS = 3;

const FIRST_ADDRESS = 64;
const REPLACEMENT = Buffer.from('\uFFFD');

/** Something that every match contains, and how often it occurs. */
export class Probe {
  readonly #finder: Finder;
  #bytes = SURE_BYTES;
  #hits: number;

  /** `bits`: estimated to occur at one of 2 ** `bits` positions. */
  constructor(finder: Finder, bits: number) {
    this.#finder = finder;
    this.#hits = SURE_BYTES / 2 ** bits;
  }

  begin(): void {
    this.#finder.begin?.();
  }

  find(from: number, end: number): number {
    return this.#finder.find(from, end);
  }

  /** Occurrences per byte. */
  get rate(): number {
    return this.#hits / this.#bytes;
  }

  /** Records occurrences in so many bytes. */
  note(bytes: number, hits: number): void {
    this.#bytes += bytes;
    this.#hits += hits;
  }
}

/** Stored in the memory; empty when no match requires anything rare. */
export function probesOf(regex: Regex, memory: TextMemory): Probe[] {
  const probes: Probe[] = [];
  let address = FIRST_ADDRESS;
  const literals = requiredTexts(regex);
  if (literals) {
    const needles = literals.map((bytes) => {
      const needle = new Needle(memory, address, bytes);
      address += bytes.length;
      return needle;
    });
    const bits = Math.min(...literals.map(bitsOfText)) - Math.log2(literals.length);
    probes.push(new Probe(needles.length === 1 ? needles[0]! : new AnyNeedle(needles), bits));
  }
  for (const { run, bits } of rarestRuns(regex.runs, literals)) {
    probes.push(new Probe(new CharRun(memory, address, run), bits));
    address += CharRun.bytesOf(run);
  }
  return probes;
}

/** Undefined for literals with a character that can stand for other bytes in the file. */
function requiredTexts(regex: Regex): readonly Uint8Array[] | undefined {
  const literals = requiredLiterals(regex);
  return literals?.some((bytes) => Buffer.from(bytes).includes(REPLACEMENT)) ? undefined : literals;
}

function rarestRuns(runs: readonly CharSet[][], literals: readonly Uint8Array[] = []) {
  const literal = literals.length === 1 ? Buffer.from(literals[0]!).toString() : undefined;
  return runs
    .filter((run) => literal === undefined || textOf(run) !== literal)
    .map((run) => ({ run, bits: run.reduce((bits, set) => bits + bitsOfSet(set), 0) }))
    .filter(({ bits }) => bits >= MIN_RUN_BITS)
    .sort((a, b) => b.bits - a.bits)
    .slice(0, MAX_RUNS);
}

/** Undefined where a position allows several characters. */
function textOf(run: readonly CharSet[]): string | undefined {
  const isText = run.every((set) => set.indexOf(1) === set.lastIndexOf(1));
  return isText ? String.fromCharCode(...run.map((set) => set.indexOf(1))) : undefined;
}

/** The first of several needles. The next position of each is remembered, so that a text is scanned once per needle. */
class AnyNeedle implements Finder {
  readonly #needles: readonly Needle[];
  /** Cache by needle: the start of its last search, which ended at `#end`, and the result. */
  readonly #lastFound: { from: number; found: number }[] = [];
  #end = 0;

  constructor(needles: readonly Needle[]) {
    this.#needles = needles;
    this.begin();
  }

  begin(): void {
    for (const i of this.#needles.keys()) this.#lastFound[i] = { from: Infinity, found: -1 };
  }

  find(from: number, end: number): number {
    let first = -1;
    for (const [i, needle] of this.#needles.entries()) {
      const last = this.#lastFound[i]!;
      const isKnown = end === this.#end && from >= last.from && (last.found < 0 || last.found >= from);
      if (!isKnown) this.#lastFound[i] = { from, found: needle.find(from, end) };
      const { found } = this.#lastFound[i]!;
      if (found >= 0 && (first < 0 || found < first)) first = found;
    }
    this.#end = end;
    return first;
  }
}
