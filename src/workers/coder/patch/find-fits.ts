/**
 * Finds the lines of a file that match a run of lines.
 *
 * A run with a rare line is compared only where that line occurs. Any other run is searched for from start to end
 * (Knuth-Morris-Pratt), which stays linear even if all lines are equal.
 */
import type { Turns } from '#host';
import type { LineTable } from './source.ts';

/** Most other matches that are counted. */
const MAX_PLACES = 100;

/** Lines searched after the best match for other matches, for a run without a rare line. */
const MAX_LINES_BEHIND = 20_000;

export interface Wanted {
  /** Line numbers of the table (`numberOf`), not of the file; at least one. */
  readonly run: readonly number[];
  /** First line where a match may start. */
  readonly from: number;
  /** Of several matches the nearest to this line is returned; the first if undefined. */
  readonly near?: number | undefined;
}

export interface Found {
  at: number;
  /** Number of other matches, as far as they were counted. */
  others: number;
}

/** Resolves the lines to numbers of the table; undefined if the file lacks one of them. */
export async function runOf(
  lines: readonly string[],
  { numberOf, keyOf }: LineTable,
  turns: Turns,
): Promise<number[] | undefined> {
  const run: number[] = [];
  for (const line of lines) {
    const number = numberOf.get(keyOf(line));
    if (number === undefined) return undefined;
    run.push(number);
    if ((run.length & 4095) === 0 && turns.isOver) await turns.next();
  }
  return run;
}

export function fitsAt({ numbers }: LineTable, run: readonly number[], at: number): boolean {
  if (at < 0 || at + run.length > numbers.length) return false;
  for (let i = 0; i < run.length; i++) if (numbers[at + i] !== run[i]) return false;
  return true;
}

/** Returns the first or nearest match. Counts all others if `countAll`, else only those that are cheap to find. */
export function findFit(table: LineTable, wanted: Wanted, { countAll }: { countAll: boolean }): Found | undefined {
  const rare = rarestOf(table, wanted.run);
  const isCheap = rare.count * wanted.run.length <= table.numbers.length;
  const choice = new Choice(wanted.near);
  if (isCheap) visitRare(table, wanted, rare.index, choice);
  else visitAll(table, wanted, choice, countAll);
  return choice.found;
}

/** Chooses the nearest of matches that are added in ascending order. */
class Choice {
  readonly #near: number;
  #at: number | undefined;
  #count = 0;

  constructor(near = 0) {
    this.#near = near;
  }

  add(position: number): void {
    this.#count++;
    if (this.#at === undefined || Math.abs(position - this.#near) < Math.abs(this.#at - this.#near))
      this.#at = position;
  }

  /** True if no match from here on can be nearer. */
  isMadeAt(position: number): boolean {
    return this.#at !== undefined && position - this.#near > Math.abs(this.#at - this.#near);
  }

  get isFull(): boolean {
    return this.#count > MAX_PLACES;
  }

  get found(): Found | undefined {
    return this.#at === undefined ? undefined : { at: this.#at, others: Math.min(this.#count - 1, MAX_PLACES) };
  }
}

function rarestOf({ offsets }: LineTable, run: readonly number[]): { index: number; count: number } {
  let rarest = { index: 0, count: Infinity };
  for (const [index, number] of run.entries()) {
    const count = offsets[number + 1]! - offsets[number]!;
    if (count < rarest.count) rarest = { index, count };
  }
  return rarest;
}

function visitRare(table: LineTable, { run, from }: Wanted, index: number, choice: Choice): void {
  const { offsets, positions } = table;
  const number = run[index]!;
  const end = offsets[number + 1]!;
  for (let i = firstAtLeast(positions, from + index, offsets[number]!, end); i < end; i++) {
    const position = positions[i]! - index;
    if (choice.isFull && choice.isMadeAt(position)) return;
    if (fitsAt(table, run, position)) choice.add(position);
  }
}

function firstAtLeast(positions: Uint32Array, least: number, from: number, until: number): number {
  let [low, high] = [from, until];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (positions[middle]! < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

function visitAll({ numbers }: LineTable, { run, from }: Wanted, choice: Choice, countAll: boolean): void {
  const back = fallbacksOf(run);
  let matched = 0;
  let behind = 0;
  for (let i = from; i < numbers.length; i++) {
    if (choice.isMadeAt(i - run.length + 1) && (choice.isFull || (!countAll && ++behind > MAX_LINES_BEHIND))) return;
    while (matched > 0 && run[matched] !== numbers[i]) matched = back[matched - 1]!;
    if (run[matched] === numbers[i]) matched++;
    if (matched < run.length) continue;
    choice.add(i - run.length + 1);
    matched = back[matched - 1]!;
  }
}

/** The KMP failure table: for each prefix of the run, the length of its longest proper suffix that is also a prefix. */
function fallbacksOf(run: readonly number[]): Uint32Array {
  const back = new Uint32Array(run.length);
  let length = 0;
  for (let i = 1; i < run.length; i++) {
    while (length > 0 && run[i] !== run[length]) length = back[length - 1]!;
    if (run[i] === run[length]) length++;
    back[i] = length;
  }
  return back;
}
