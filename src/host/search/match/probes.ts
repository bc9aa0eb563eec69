/**
 * What every line that matches a regex holds, and which of it is looked for first.
 *
 * The rarest leads: only lines in which it stands are looked at, and only those that hold all the others too are given
 * to the regex. What is rare in text is known beforehand, about; what is rare in these texts shows while they are
 * searched: `struct` and `_ops` seem alike, but not in C.
 */
import { requiredLiterals, type CharSet, type Regex } from '../../regex/index.ts';
import { CharRun } from './char-run.ts';
import { bitsOfSet, bitsOfText } from './commonness.ts';
import { Needle } from './needle.ts';
import type { TextMemory } from './text-memory.ts';

interface Finder {
  /** Another text is searched from now on. */
  begin?(): void;
  /** The first place at or after `from` and before `end`, as an address; -1 when there is none. */
  find(from: number, end: number): number;
}

/** What was met in so much text counts as much as what was thought of it. */
const SURE_BYTES = 65_536;

/** What is more common stands in every second line. */
const MIN_RUN_BITS = 8;
const MAX_RUNS = 3;

const FIRST_ADDRESS = 64;
const REPLACEMENT = Buffer.from('\uFFFD');

/** Something that every match holds, and how often it is met. */
export class Probe {
  readonly #finder: Finder;
  #bytes = SURE_BYTES;
  #places: number;

  /** It is thought to stand at one of 2 ** `bits` places. */
  constructor(finder: Finder, bits: number) {
    this.#finder = finder;
    this.#places = SURE_BYTES / 2 ** bits;
  }

  begin(): void {
    this.#finder.begin?.();
  }

  find(from: number, end: number): number {
    return this.#finder.find(from, end);
  }

  /** Places a byte. */
  get rate(): number {
    return this.#places / this.#bytes;
  }

  /** It was met so often in so many bytes. */
  note(bytes: number, places: number): void {
    this.#bytes += bytes;
    this.#places += places;
  }
}

/** Placed in the memory; none when no match needs anything that is rare. */
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

/** Undefined for literals with a character that can stand for bytes which are something else in the file. */
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

/** Undefined where there is a choice. */
function textOf(run: readonly CharSet[]): string | undefined {
  const isText = run.every((set) => set.indexOf(1) === set.lastIndexOf(1));
  return isText ? String.fromCharCode(...run.map((set) => set.indexOf(1))) : undefined;
}

/** The first of several needles. Where each stands next is remembered, so that a text is looked through once for each. */
class AnyNeedle implements Finder {
  readonly #needles: readonly Needle[];
  /** By needle: from where it was last looked for, up to `#end`, and what was found. */
  readonly #looked: { from: number; found: number }[] = [];
  #end = 0;

  constructor(needles: readonly Needle[]) {
    this.#needles = needles;
    this.begin();
  }

  begin(): void {
    for (const i of this.#needles.keys()) this.#looked[i] = { from: Infinity, found: -1 };
  }

  find(from: number, end: number): number {
    let first = -1;
    for (const [i, needle] of this.#needles.entries()) {
      const looked = this.#looked[i]!;
      const isKnown = end === this.#end && from >= looked.from && (looked.found < 0 || looked.found >= from);
      if (!isKnown) this.#looked[i] = { from, found: needle.find(from, end) };
      const { found } = this.#looked[i]!;
      if (found >= 0 && (first < 0 || found < first)) first = found;
    }
    this.#end = end;
    return first;
  }
}
