/**
 * Matches of consecutive files, as one array of numbers and one string.
 *
 * A thread transfers these two a hundred times faster than as many objects, and the receiver makes objects of them at
 * its own pace. Skip counts are interleaved with matches, so a truncated answer counts only the files before the cut.
 */
import type { SkipReason } from '../walk/walk.ts';
import type { LineFound, Query, Skipped } from './query.ts';

/** Most entries of a list, whatever a query asks for. */
export const MAX_LIST = 100_000;

/** Most text of an answer. */
export const MAX_ANSWER_CHARS = 32 * 2 ** 20;

/** Result of searching one file. */
export const OUTCOME = { pathOnly: 0, searched: 1, binary: 2, tooLarge: 3, unreadable: 4, gone: 5 } as const;

export interface Findings {
  readonly numbers: Int32Array<ArrayBuffer>;
  readonly texts: string;
  /** The matching lines, as members of a JSON array with a comma before each; they are then not in `texts`. */
  readonly json?: Uint8Array<ArrayBuffer>;
}

const FIRST_NUMBERS = 256;
const FIRST_JSON_BYTES = 65_536;

const RECORD = { counts: 0, file: 1, skipped: 2 } as const;

export class FindingsWriter {
  readonly #limit: number;
  #numbers = new Int32Array(FIRST_NUMBERS);
  #length = 0;
  #texts: string[] = [];
  #json: Buffer<ArrayBuffer> | undefined;
  #jsonLength = 0;
  /** Files since the last one added, by outcome. */
  readonly counts = new Int32Array(Object.keys(OUTCOME).length);
  #lines = 0;
  #paths = 0;
  #chars = 0;

  constructor({ maxMatches }: Pick<Query, 'maxMatches'>) {
    this.#limit = Math.min(maxMatches, MAX_LIST);
  }

  /** Whether the findings fill an answer by themselves. */
  get isFull(): boolean {
    return this.#lines > this.#limit || this.#paths > this.#limit || this.#chars > MAX_ANSWER_CHARS;
  }

  /** Counts files by outcome. */
  count(outcome: number, files = 1): void {
    this.counts[outcome]! += files;
  }

  /** Adds the file that was counted last. The caller adds `lineCount` lines next. */
  addFile(path: string, { isPathMatch, lineCount }: { isPathMatch: boolean; lineCount: number }): void {
    this.#writeCounts();
    const at = this.#take(4);
    this.#numbers[at] = RECORD.file;
    this.#numbers[at + 1] = isPathMatch ? 1 : 0;
    this.#numbers[at + 2] = lineCount;
    this.#numbers[at + 3] = path.length;
    this.#texts.push(path);
    if (isPathMatch) this.#paths++;
    this.#lines += lineCount;
  }

  addLine({ line, column, text, before, after }: LineFound): void {
    const at = this.#take(5);
    this.#numbers[at] = line;
    this.#numbers[at + 1] = column;
    this.#numbers[at + 2] = text.length;
    this.#numbers[at + 3] = before?.length ?? -1;
    this.#numbers[at + 4] = after?.length ?? -1;
    this.#addText(text);
    if (before) for (const shown of before) this.#addNeighbour(shown);
    if (after) for (const shown of after) this.#addNeighbour(shown);
  }

  /** Adds the JSON of lines, each of which is added next by its end offset; returns the start offset. */
  addJson(json: Uint8Array): number {
    this.#json ??= Buffer.allocUnsafeSlow(FIRST_JSON_BYTES);
    const start = this.#jsonLength;
    this.#jsonLength += json.length;
    if (this.#jsonLength > this.#json.length) {
      const grown = Buffer.allocUnsafeSlow(4 * this.#jsonLength);
      grown.set(this.#json.subarray(0, start));
      this.#json = grown;
    }
    this.#json.set(json, start);
    return start;
  }

  addJsonLine(chars: number, end: number): void {
    const at = this.#take(2);
    this.#numbers[at] = chars;
    this.#numbers[at + 1] = end;
    this.#chars += chars;
  }

  addSkipped(path: string, reason: SkipReason): void {
    const at = this.#take(3);
    this.#numbers[at] = RECORD.skipped;
    this.#numbers[at + 1] = path.length;
    this.#numbers[at + 2] = reason.length;
    this.#texts.push(path, reason);
  }

  /** Findings since the last call. */
  take(): Findings {
    this.#writeCounts();
    const json = this.#json?.subarray(0, this.#jsonLength);
    const findings = { numbers: this.#numbers.slice(0, this.#length), texts: this.#texts.join(''), json };
    this.#length = 0;
    this.#texts = [];
    this.#json = undefined;
    this.#jsonLength = 0;
    return findings;
  }

  #addNeighbour(text: string): void {
    // Before `#numbers` is read: `#take` may replace the array.
    const at = this.#take(1);
    this.#numbers[at] = text.length;
    this.#addText(text);
  }

  #addText(text: string): void {
    this.#texts.push(text);
    this.#chars += text.length;
  }

  #writeCounts(): void {
    const { counts } = this;
    const [searched, binary, tooLarge] = [
      counts[OUTCOME.searched]!,
      counts[OUTCOME.binary]!,
      counts[OUTCOME.tooLarge]!,
    ];
    counts.fill(0);
    if (searched + binary + tooLarge === 0) return;
    const at = this.#take(4);
    this.#numbers[at] = RECORD.counts;
    this.#numbers[at + 1] = searched;
    this.#numbers[at + 2] = binary;
    this.#numbers[at + 3] = tooLarge;
  }

  /** Reserves so many numbers; returns the index of the first. */
  #take(count: number): number {
    const at = this.#length;
    this.#length += count;
    if (this.#length > this.#numbers.length) this.#grow();
    return at;
  }

  #grow(): void {
    const grown = new Int32Array(4 * this.#numbers.length);
    grown.set(this.#numbers);
    this.#numbers = grown;
  }
}

export type Finding =
  | { kind: 'counts'; searched: number; binary: number; tooLarge: number }
  /** Its lines are read next, each by `nextLine`. */
  | { kind: 'file'; path: string; isPathMatch: boolean; lineCount: number }
  | ({ kind: 'skipped' } & Skipped);

export class FindingsReader {
  readonly json: Uint8Array | undefined;
  readonly #numbers: Int32Array;
  readonly #texts: string;
  #at = 0;
  #textAt = 0;
  #jsonEnd = 0;

  constructor({ numbers, texts, json }: Findings) {
    this.#numbers = numbers;
    this.#texts = texts;
    this.json = json;
  }

  /** End of the last line read from the JSON. */
  get jsonEnd(): number {
    return this.#jsonEnd;
  }

  /** Undefined at the end. */
  next(): Finding | undefined {
    if (this.#at === this.#numbers.length) return undefined;
    const record = this.#number();
    if (record === RECORD.counts) {
      return { kind: 'counts', searched: this.#number(), binary: this.#number(), tooLarge: this.#number() };
    }
    if (record === RECORD.file) {
      const isPathMatch = this.#number() === 1;
      const lineCount = this.#number();
      return { kind: 'file', isPathMatch, lineCount, path: this.#text(this.#number()) };
    }
    const [pathLength, reasonLength] = [this.#number(), this.#number()];
    return { kind: 'skipped', path: this.#text(pathLength), reason: this.#text(reasonLength) as SkipReason };
  }

  /** The same where lines are JSON: returns the length of the line's text. */
  nextJsonLine(): number {
    const chars = this.#number();
    this.#jsonEnd = this.#number();
    return chars;
  }

  nextLine(): LineFound {
    const [line, column, length, beforeCount, afterCount] = [
      this.#number(),
      this.#number(),
      this.#number(),
      this.#number(),
      this.#number(),
    ];
    const found: LineFound = { line, column, text: this.#text(length) };
    if (beforeCount >= 0) found.before = this.#neighbours(beforeCount);
    if (afterCount >= 0) found.after = this.#neighbours(afterCount);
    return found;
  }

  #neighbours(count: number): string[] {
    return Array.from({ length: count }, () => this.#text(this.#number()));
  }

  #number(): number {
    return this.#numbers[this.#at++]!;
  }

  #text(length: number): string {
    return this.#texts.slice(this.#textAt, (this.#textAt += length));
  }
}
