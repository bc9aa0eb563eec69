/**
 * Builds the answer from findings in path order.
 *
 * It alone fills the answer and decides when it is full, so the answer does not depend on which thread was faster.
 * A full list ends the search at the next match, which is how `isTruncated` is known.
 */
import type { EncodedJson } from '#protocol';
import { MAX_ANSWER_CHARS, MAX_LIST, type FindingsReader } from './findings.ts';
import type { ContentMatch, LineFound, Query, SearchAnswer } from './query.ts';

const MAX_SKIPPED = 100;

/** Reading them takes a fraction of a millisecond. */
const LINES_AT_ONCE = 256;

interface FileRead {
  readonly path: string;
  linesLeft: number;
  /** Whether the answer ends with this file. */
  readonly isLast: boolean;
}

export class Tally {
  readonly #limit: number;
  readonly #answer: SearchAnswer = {
    contentMatches: [],
    pathMatches: [],
    isTruncated: false,
    filesSearched: 0,
    filesBinary: 0,
    filesTooLarge: 0,
    skipped: [],
  };
  #chars = 0;
  #lines = 0;
  /** Readers whose JSON is in the answer, with the end of the part used. */
  readonly #jsonEnds = new Map<FindingsReader, number>();
  /** The file whose lines are being read. */
  #file: FileRead | undefined;

  constructor({ maxMatches }: Pick<Query, 'maxMatches'>) {
    this.#limit = Math.min(maxMatches, MAX_LIST);
  }

  /** True when no later finding can change the answer. */
  get isDone(): boolean {
    return this.#answer.isTruncated;
  }

  get answer(): SearchAnswer {
    if (this.#jsonEnds.size === 0) return this.#answer;
    const members = Array.from(this.#jsonEnds, ([{ json }, end]) => json!.subarray(0, end));
    return { ...this.#answer, contentJson: encodedMatches(members) };
  }

  /** Reads until the end, until the answer is full, or until `isOver` returns true. Returns whether all was read. */
  add(reader: FindingsReader, isOver: () => boolean): boolean {
    for (;;) {
      if (this.#file) this.#addLines(this.#file, reader);
      else if (!this.#addNext(reader)) return true;
      if (this.isDone) return true;
      if (isOver()) return false;
    }
  }

  #addNext(reader: FindingsReader): boolean {
    const answer = this.#answer;
    const finding = reader.next();
    if (finding?.kind === 'file') {
      const hasRoom = answer.pathMatches.length < this.#limit;
      if (finding.isPathMatch && hasRoom) answer.pathMatches.push(finding.path);
      // The contract still searches the file with the first path beyond the limit, and ends there.
      const { path, lineCount: linesLeft } = finding;
      this.#file = { path, linesLeft, isLast: finding.isPathMatch && !hasRoom };
    } else if (finding?.kind === 'counts') {
      answer.filesSearched += finding.searched;
      answer.filesBinary += finding.binary;
      answer.filesTooLarge += finding.tooLarge;
    } else if (finding && answer.skipped.length < MAX_SKIPPED) {
      answer.skipped.push({ path: finding.path, reason: finding.reason });
    }
    return finding !== undefined;
  }

  #addLines(file: FileRead, reader: FindingsReader): void {
    for (let i = 0; i < LINES_AT_ONCE && file.linesLeft > 0; i++) {
      const found = reader.json ? undefined : reader.nextLine();
      file.linesLeft--;
      this.#chars += found ? charsOf(found) : reader.nextJsonLine();
      if (this.#lines === this.#limit || this.#chars > MAX_ANSWER_CHARS) {
        this.#answer.isTruncated = true;
        return;
      }
      this.#lines++;
      if (found) this.#answer.contentMatches.push(matchOf(file.path, found));
      else this.#jsonEnds.set(reader, reader.jsonEnd);
    }
    if (file.linesLeft > 0) return;
    this.#answer.isTruncated = file.isLast;
    this.#file = undefined;
  }
}

const [OPEN, CLOSE] = ['[', ']'].map((bracket) => Buffer.from(bracket)) as [Buffer, Buffer];

/** Every member comes with a comma before it. */
function encodedMatches([first, ...others]: Uint8Array[]): EncodedJson<ContentMatch[]> {
  const json = [OPEN, first!.subarray(1), ...others, CLOSE];
  return { json, decode: () => JSON.parse(Buffer.concat(json).toString()) as ContentMatch[] };
}

/** Listing the fields is many times as fast as a spread. */
function matchOf(path: string, { line, column, text, before, after }: LineFound): ContentMatch {
  return before && after ? { path, line, column, text, before, after } : { path, line, column, text };
}

function charsOf({ text, before, after }: LineFound): number {
  let chars = text.length;
  if (before) for (const line of before) chars += line.length;
  if (after) for (const line of after) chars += line.length;
  return chars;
}
