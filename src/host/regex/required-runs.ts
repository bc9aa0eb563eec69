/**
 * Runs of ASCII characters that occur in every match: for each position of a run, the set of characters allowed.
 *
 * `[A-Z]{3}-[0-9]{3,}` has no literal worth searching for, but seven characters of a kind in a row are rare. A match
 * contains all of its runs. A part whose length or bytes are unknown ends a run: a repetition, or a character beyond
 * ASCII.
 */
import type { Hir, Range } from './hir.ts';

/** Which of the 128 ASCII characters are allowed at a position: 1 for each. */
export type CharSet = Uint8Array;

export const ASCII_CHARS = 128;
const MAX_RUN = 16;
const MAX_RUNS = 32;

const LINE_FEED = 0x0a;

/** Required runs of characters, in pattern order; empty when nothing is required. */
export function requiredRuns(hir: Hir): CharSet[][] {
  const runs = new Runs();
  runs.add(hir);
  runs.cut();
  return runs.all;
}

class Runs {
  readonly all: CharSet[][] = [];
  #run: CharSet[] = [];

  add(hir: Hir): void {
    const fixed = fixedRun(hir);
    if (fixed) this.#extend(fixed);
    else if (hir.kind === 'concat') for (const part of hir.parts) this.add(part);
    else if (hir.kind === 'repeat' && hir.min > 0) this.#repeat(hir.sub, hir.min);
    else this.cut();
  }

  /** The next part need not be adjacent to the last one. */
  cut(): void {
    if (this.#run.length > 0 && this.all.length < MAX_RUNS) this.all.push(this.#run);
    this.#run = [];
  }

  /** Splits a longer run into pieces. */
  #extend(sets: readonly CharSet[]): void {
    for (const set of sets) {
      if (this.#run.length === MAX_RUN) this.cut();
      this.#run.push(set);
    }
  }

  /** The first repetitions are adjacent to the part before, the last ones to the part after. */
  #repeat(sub: Hir, min: number): void {
    const once = fixedRun(sub);
    const turns =
      once && once.length > 0 ? repeated(once, Math.min(min, Math.floor(MAX_RUN / once.length))) : undefined;
    if (turns) this.#extend(turns);
    else this.add(sub);
    this.cut();
    if (turns) this.#extend(turns);
  }
}

/** The whole part as a run; undefined if its length or characters are not known. */
function fixedRun(hir: Hir): CharSet[] | undefined {
  switch (hir.kind) {
    case 'literal':
      return bounded(Array.from(hir.bytes, (byte) => setOf([[byte, byte]])));
    case 'class':
      return bounded([setOf(hir.ranges)]);
    case 'look':
      return [];
    case 'repeat': {
      const once = hir.min === hir.max ? fixedRun(hir.sub) : undefined;
      return once && once.length * hir.min <= MAX_RUN ? repeated(once, hir.min) : undefined;
    }
    case 'concat':
      return joined(hir.parts);
    case 'either':
      return undefined;
  }
}

function joined(parts: readonly Hir[]): CharSet[] | undefined {
  const runs = parts.map(fixedRun);
  return runs.every((run) => run !== undefined) ? bounded(runs.flat()) : undefined;
}

function bounded(run: (CharSet | undefined)[]): CharSet[] | undefined {
  return run.length <= MAX_RUN && run.every((set) => set !== undefined) ? run : undefined;
}

function repeated(run: readonly CharSet[], times: number): CharSet[] {
  return Array.from({ length: times }, () => run).flat();
}

/** Undefined for characters beyond ASCII, and for an empty set. Lines contain no newline. */
function setOf(ranges: readonly Range[]): CharSet | undefined {
  const set = new Uint8Array(ASCII_CHARS);
  for (const [first, last] of ranges) {
    if (last >= ASCII_CHARS) return undefined;
    set.fill(1, first, last + 1);
  }
  set[LINE_FEED] = 0;
  return set.includes(1) ? set : undefined;
}
