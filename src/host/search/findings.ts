/**
 * What a search found in files that follow each other, as one row of numbers and one string.
 *
 * A thread hands over these two a hundred times faster than as many objects, and whoever takes them makes objects of
 * them at its own pace. Between two files stands how many others were passed, so that an answer which ends at a file
 * counts those before it and no more.
 */
import type { SkipReason } from '../walk.ts';
import type { LineFound, Query, Skipped } from './query.ts';

/** Most entries of a list, whatever a query asks for. */
export const MAX_LIST = 100_000;

/** Most text of an answer. */
export const MAX_ANSWER_CHARS = 32 * 2 ** 20;

/** What became of a file. */
export const OUTCOME = { pathOnly: 0, searched: 1, binary: 2, tooLarge: 3, unreadable: 4, gone: 5 } as const;

export interface Findings {
  readonly numbers: Int32Array;
  readonly texts: string;
}

const RECORD = { counts: 0, file: 1, skipped: 2 } as const;

export class FindingsWriter {
  readonly #limit: number;
  #numbers: number[] = [];
  #texts: string[] = [];
  readonly #counts = [0, 0, 0, 0, 0, 0];
  #hasCounts = false;
  #lines = 0;
  #paths = 0;
  #chars = 0;

  constructor({ maxMatches }: Pick<Query, 'maxMatches'>) {
    this.#limit = Math.min(maxMatches, MAX_LIST);
  }

  /** What was written fills an answer by itself. */
  get isFull(): boolean {
    return this.#lines > this.#limit || this.#paths > this.#limit || this.#chars > MAX_ANSWER_CHARS;
  }

  /** What became of files. */
  count(outcome: number, files = 1): void {
    this.#counts[outcome]! += files;
    this.#hasCounts = true;
  }

  /** The file that was counted last. As many lines as said are added next. */
  addFile(path: string, { isPathMatch, lineCount }: { isPathMatch: boolean; lineCount: number }): void {
    this.#writeCounts();
    this.#numbers.push(RECORD.file, isPathMatch ? 1 : 0, lineCount, path.length);
    this.#texts.push(path);
    if (isPathMatch) this.#paths++;
    this.#lines += lineCount;
  }

  addLine({ line, column, text, before, after }: LineFound): void {
    this.#numbers.push(line, column, text.length, before?.length ?? -1, after?.length ?? -1);
    this.#addText(text);
    for (const shown of before ?? []) this.#addNeighbour(shown);
    for (const shown of after ?? []) this.#addNeighbour(shown);
  }

  addSkipped(path: string, reason: SkipReason): void {
    this.#numbers.push(RECORD.skipped, path.length, reason.length);
    this.#texts.push(path, reason);
  }

  /** What was written since the last time. */
  take(): Findings {
    this.#writeCounts();
    const findings = { numbers: Int32Array.from(this.#numbers), texts: this.#texts.join('') };
    this.#numbers = [];
    this.#texts = [];
    return findings;
  }

  #addNeighbour(text: string): void {
    this.#numbers.push(text.length);
    this.#addText(text);
  }

  #addText(text: string): void {
    this.#texts.push(text);
    this.#chars += text.length;
  }

  #writeCounts(): void {
    if (!this.#hasCounts) return;
    const counts = this.#counts;
    this.#numbers.push(RECORD.counts, counts[OUTCOME.searched]!, counts[OUTCOME.binary]!, counts[OUTCOME.tooLarge]!);
    counts.fill(0);
    this.#hasCounts = false;
  }
}

export type Finding =
  | { kind: 'counts'; searched: number; binary: number; tooLarge: number }
  /** Its lines are read next, each by `nextLine`. */
  | { kind: 'file'; path: string; isPathMatch: boolean; lineCount: number }
  | ({ kind: 'skipped' } & Skipped);

export class FindingsReader {
  readonly #numbers: Int32Array;
  readonly #texts: string;
  #at = 0;
  #textAt = 0;

  constructor({ numbers, texts }: Findings) {
    this.#numbers = numbers;
    this.#texts = texts;
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
