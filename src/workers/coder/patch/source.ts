/**
 * The lines of a file, with an index of their positions for each level.
 *
 * Equal lines share one number, so that comparing lines is comparing numbers. The table of a level is built on first use.
 */
import type { Turns } from '#host';
import { keyAt } from './levels.ts';

const BOM = '\uFEFF';

/** Lines with the number n are at `positions[offsets[n]]` up to, not including, `positions[offsets[n + 1]]`. */
export interface LineTable {
  /** Returns the text by which a line is compared; equal keys have one number. */
  readonly keyOf: (line: string) => string;
  readonly numberOf: ReadonlyMap<string, number>;
  /** The number of each line. */
  readonly numbers: Uint32Array;
  readonly offsets: Uint32Array;
  readonly positions: Uint32Array;
}

export class Source {
  /** Byte order mark, or empty. Not part of the first line. */
  readonly bom: string;
  readonly text: string;
  /** Most common line ending, which new lines get. */
  readonly ending: string;
  readonly #starts: Uint32Array;
  /** End of each line, without its line ending. */
  readonly #ends: Uint32Array;
  readonly #tables: LineTable[] = [];

  private constructor(bom: string, text: string, { starts, ends, ending }: SplitText) {
    this.bom = bom;
    this.text = text;
    this.ending = ending;
    this.#starts = starts;
    this.#ends = ends;
  }

  static async of(whole: string, turns: Turns): Promise<Source> {
    const bom = whole.startsWith(BOM) ? BOM : '';
    const text = whole.slice(bom.length);
    return new Source(bom, text, await splitText(text, turns));
  }

  get length(): number {
    return this.#starts.length;
  }

  line(index: number): string {
    return this.text.slice(this.#starts[index], this.#ends[index]);
  }

  /** Offset of a line; the length of the text for the line after the last. */
  startOf(index: number): number {
    return this.#starts[index] ?? this.text.length;
  }

  /** True if the last line has a line ending. */
  get isClosed(): boolean {
    return this.length === 0 || this.#ends.at(-1)! < this.text.length;
  }

  async table(level: number, turns: Turns): Promise<LineTable> {
    return (this.#tables[level] ??=
      level === 0 ? await this.#exactTable(turns) : await this.#looserTable(level, turns));
  }

  async #exactTable(turns: Turns): Promise<LineTable> {
    const numberOf = new Map<string, number>();
    const numbers = new Uint32Array(this.length);
    for (let i = 0; i < this.length; i++) {
      numbers[i] = numberFor(this.line(i), numberOf);
      if ((i & 1023) === 0 && turns.isOver) await turns.next();
    }
    return { keyOf: keyAt[0]!, numberOf, numbers, ...(await positionsOf(numbers, numberOf.size, turns)) };
  }

  /** Built from the distinct lines only. */
  async #looserTable(level: number, turns: Turns): Promise<LineTable> {
    const exact = await this.table(0, turns);
    const numberOf = new Map<string, number>();
    const looser = new Uint32Array(exact.numberOf.size);
    for (const [line, number] of exact.numberOf) {
      looser[number] = numberFor(keyAt[level]!(line), numberOf);
      if ((number & 1023) === 0 && turns.isOver) await turns.next();
    }
    const numbers = exact.numbers.map((number) => looser[number]!);
    return { keyOf: keyAt[level]!, numberOf, numbers, ...(await positionsOf(numbers, numberOf.size, turns)) };
  }
}

function numberFor(key: string, numberOf: Map<string, number>): number {
  const known = numberOf.get(key);
  if (known !== undefined) return known;
  numberOf.set(key, numberOf.size);
  return numberOf.size - 1;
}

async function positionsOf(
  numbers: Uint32Array,
  count: number,
  turns: Turns,
): Promise<Pick<LineTable, 'offsets' | 'positions'>> {
  if (turns.isOver) await turns.next();
  const offsets = new Uint32Array(count + 1);
  for (let i = 0; i < numbers.length; i++) {
    offsets[numbers[i]! + 1]!++;
    if ((i & 0xffff) === 0xffff && turns.isOver) await turns.next();
  }
  for (let n = 0; n < count; n++) offsets[n + 1]! += offsets[n]!;
  const next = offsets.slice();
  const positions = new Uint32Array(numbers.length);
  for (let i = 0; i < numbers.length; i++) {
    positions[next[numbers[i]!]!++] = i;
    if ((i & 0xffff) === 0xffff && turns.isOver) await turns.next();
  }
  return { offsets, positions };
}

interface SplitText {
  starts: Uint32Array;
  ends: Uint32Array;
  ending: string;
}

/** Splits at LF, CRLF and CR, which may be mixed. */
async function splitText(text: string, turns: Turns): Promise<SplitText> {
  const [starts, ends] = [new Numbers(), new Numbers()];
  const counts = new Map([['\n', 0]]);
  let [newline, carriageReturn] = [-1, -1];
  for (let at = 0; at < text.length;) {
    // Searches again only after passing the last hit: otherwise a text without CR would be scanned once per line.
    if (newline < at) newline = indexOrEnd('\n', text, at);
    if (carriageReturn < at) carriageReturn = indexOrEnd('\r', text, at);
    const end = Math.min(newline, carriageReturn);
    const ending = carriageReturn + 1 === newline && newline < text.length ? '\r\n' : text.slice(end, end + 1);
    starts.push(at);
    ends.push(end);
    if (ending !== '') counts.set(ending, (counts.get(ending) ?? 0) + 1);
    at = end + ending.length;
    if ((starts.length & 1023) === 0 && turns.isOver) await turns.next();
  }
  const [ending] = [...counts].reduce((most, next) => (next[1] > most[1] ? next : most));
  return { starts: starts.all, ends: ends.all, ending };
}

function indexOrEnd(character: string, text: string, from: number): number {
  const at = text.indexOf(character, from);
  return at < 0 ? text.length : at;
}

/** A growing list of numbers: a plain array takes twice the memory and copies all of it more often to grow. */
class Numbers {
  #items = new Uint32Array(1024);
  length = 0;

  push(item: number): void {
    if (this.length === this.#items.length) {
      const items = new Uint32Array(2 * this.length);
      items.set(this.#items);
      this.#items = items;
    }
    this.#items[this.length++] = item;
  }

  get all(): Uint32Array {
    return this.#items.subarray(0, this.length);
  }
}
