/**
 * The answer as it grows, fed with results in the order of the paths.
 *
 * Because it decides alone what is in the answer and when it is full, the answer does not depend on which thread
 * was faster. A list that is full ends the search at the next match, which is how `isTruncated` knows of it.
 */
import { toText, type ByteString } from '../byte-string.ts';
import { joinPath } from '../walk-dir.ts';
import { OUTCOME, type BatchResult, type FileFound, type Run } from './batch.ts';
import type { ContentMatch, LineFound, Query, SearchAnswer, Skipped } from './query.ts';

/** Most entries of a list, whatever a query asks for. */
export const MAX_LIST = 100_000;

/** Most text of an answer. */
export const MAX_ANSWER_CHARS = 32 * 2 ** 20;

const MAX_SKIPPED = 100;

export function charsOf({ text, before = [], after = [] }: LineFound): number {
  return [...before, ...after].reduce((chars, line) => chars + line.length, text.length);
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
  #isDone = false;

  constructor({ maxMatches }: Pick<Query, 'maxMatches'>) {
    this.#limit = Math.min(maxMatches, MAX_LIST);
  }

  /** Nothing that comes later changes the answer. */
  get isDone(): boolean {
    return this.#isDone;
  }

  get answer(): SearchAnswer {
    return this.#answer;
  }

  add(runs: readonly Run[], { outcomes, found }: BatchResult): void {
    let first = 0;
    let next = 0;
    for (const run of runs) {
      if (run.skipped) this.addSkipped(run.skipped);
      const end = Math.min(first + run.names.length, outcomes.length);
      for (let index = first; index < end && !this.#isDone; index++) {
        const hasFound = found[next]?.index === index;
        this.count(outcomes[index]!);
        if (hasFound) this.addFound(joinPath(run.dir, run.names[index - first]!), found[next++]!);
      }
      if (this.#isDone) return;
      first += run.names.length;
    }
  }

  /** What became of one file. */
  count(outcome: number): void {
    if (outcome === OUTCOME.searched) this.#answer.filesSearched++;
    else if (outcome === OUTCOME.binary) this.#answer.filesBinary++;
    else if (outcome === OUTCOME.tooLarge) this.#answer.filesTooLarge++;
  }

  /** What is to be told of the file that was counted last. */
  addFound(bytes: ByteString, { isPathMatch, lines, unreadable }: Omit<FileFound, 'index'>): void {
    const { contentMatches, pathMatches } = this.#answer;
    if (unreadable) this.addSkipped({ path: bytes, reason: unreadable });
    const path = toText(bytes);
    const hasRoom = pathMatches.length < this.#limit;
    if (isPathMatch && hasRoom) pathMatches.push(path);

    for (const line of lines) {
      this.#chars += charsOf(line);
      if (contentMatches.length === this.#limit || this.#chars > MAX_ANSWER_CHARS) {
        this.#truncate();
        return;
      }
      contentMatches.push({ path, ...line } satisfies ContentMatch);
    }
    // The contract searches the file whose path was one too many, and ends there.
    if (isPathMatch && !hasRoom) this.#truncate();
  }

  addSkipped({ path, reason }: { path: ByteString; reason: Skipped['reason'] }): void {
    if (this.#answer.skipped.length < MAX_SKIPPED) this.#answer.skipped.push({ path: toText(path), reason });
  }

  #truncate(): void {
    this.#answer.isTruncated = true;
    this.#isDone = true;
  }
}
