/**
 * One query run on files of a held directory, by whichever thread has it.
 *
 * It does not know of other threads: it stops by itself only when what it found alone fills the answer.
 */
import { toText, type ByteString } from '../byte-string.ts';
import { HostError } from '../host-error.ts';
import type { Regex } from '../regex/index.ts';
import { joinPath, type OpenWalkDir, type WalkDir } from '../walk-dir.ts';
import { isGone } from '../walk.ts';
import { OUTCOME, type BatchResult, type FileFound, type Run } from './batch.ts';
import { showLines } from './lines.ts';
import { loadFile, MAX_TEXT_BYTES } from './load-file.ts';
import { createMatcher, type Matcher } from './matcher.ts';
import type { LineFound, Query } from './query.ts';
import { charsOf, MAX_ANSWER_CHARS, MAX_LIST } from './tally.ts';
import { TextMemory, TEXT_START } from './text-memory.ts';

/** Memory that one large file made grow is not kept. */
const MAX_KEPT_BYTES = 64 * 2 ** 20;

/** One for the thread, whatever the queries; made when the first file is read, so that importing costs nothing. */
let sharedScratch: TextMemory | undefined;

function scratchOfThread(): TextMemory {
  if (sharedScratch && sharedScratch.buffer.length <= MAX_KEPT_BYTES) return sharedScratch;
  return (sharedScratch = new TextMemory());
}

interface FileResult {
  outcome: number;
  lines?: LineFound[];
  unreadable?: FileFound['unreadable'];
}

const PATH_ONLY: FileResult = { outcome: OUTCOME.pathOnly };

export class FileSearch {
  readonly #query: Query;
  readonly #regex: Regex | undefined;
  readonly #lineLimit: number;
  readonly #maxFileBytes: number;
  readonly #maxBytesHere: number;
  #matcher: Matcher | undefined;
  #memory: TextMemory | undefined;

  /** Files of more than `maxBytesHere` are left to another thread. */
  constructor(query: Query, regex: Regex | undefined, maxBytesHere = Infinity) {
    this.#query = query;
    this.#regex = regex;
    this.#lineLimit = Math.min(query.maxMatches, MAX_LIST) + 1;
    this.#maxFileBytes = Math.min(query.maxFileBytes, MAX_TEXT_BYTES);
    this.#maxBytesHere = maxBytesHere;
  }

  /**
   * Searches files until `isEnough`, asked before each, says so, or one is left to another thread. Answers how many
   * it did.
   */
  search(dir: WalkDir, names: readonly ByteString[], collector: Collector, isEnough: () => boolean): number {
    for (let i = 0; i < names.length; i++) {
      if (isEnough() || collector.isFull) return i;
      const scratch = scratchOfThread();
      const matcher = this.#matcherIn(scratch);
      const result = this.#query.wantsContent ? this.#searchContent(dir, names[i]!, matcher, scratch) : PATH_ONLY;
      if (!result) return i;
      const isPathMatch = this.#query.wantsPaths && matcher.matchesPath(toText(joinPath(dir.path, names[i]!)));
      collector.add(isPathMatch, result);
    }
    return names.length;
  }

  /** The same for a directory that is not held. Answers whether all of it was done. */
  searchRun(openDir: OpenWalkDir, { dir: path, names }: Run, collector: Collector, isEnough: () => boolean): boolean {
    if (names.length === 0) return true;
    let dir: WalkDir;
    try {
      dir = openDir(path);
    } catch (error) {
      const { reason } = HostError.fromErrno(error, '');
      const result = isGone(reason) ? { outcome: OUTCOME.gone } : { outcome: OUTCOME.unreadable, unreadable: reason };
      names.forEach(() => collector.add(false, result));
      return true;
    }
    try {
      return this.search(dir, names, collector, isEnough) === names.length;
    } finally {
      dir.close();
    }
  }

  /** Undefined for a file that is left to another thread. */
  #searchContent(dir: WalkDir, name: ByteString, matcher: Matcher, scratch: TextMemory): FileResult | undefined {
    try {
      const text = loadFile(scratch, TEXT_START, dir, name, Math.min(this.#maxFileBytes, this.#maxBytesHere));
      if (text === 'over-limit') {
        return this.#maxFileBytes > this.#maxBytesHere ? undefined : { outcome: OUTCOME.tooLarge };
      }
      if (scratch.kernels.hasNul(text.start, text.end - text.start)) return { outcome: OUTCOME.binary };

      const found = matcher.find(text, this.#lineLimit);
      if (found.hits.length === 0) return { outcome: OUTCOME.searched };
      return { outcome: OUTCOME.searched, lines: showLines(scratch, found.text, found.hits, this.#query) };
    } catch (error) {
      const { reason } = HostError.fromErrno(error, '');
      // A directory by now, or no longer there: not a file of this tree.
      if (isGone(reason) || reason === 'not-a-file') return { outcome: OUTCOME.gone };
      return { outcome: OUTCOME.unreadable, unreadable: reason };
    }
  }

  #matcherIn(scratch: TextMemory): Matcher {
    if (!this.#matcher || this.#memory !== scratch || scratch.user !== this) {
      this.#matcher = createMatcher(this.#query, this.#regex, scratch);
      this.#memory = scratch;
      scratch.user = this;
    }
    return this.#matcher;
  }
}

/** Gathers results of files in order. */
export class Collector {
  readonly #found: FileFound[] = [];
  readonly #limit: number;
  #outcomes = new Uint8Array(64);
  #count = 0;
  #lines = 0;
  #chars = 0;

  /** `maxMatches` of the query. */
  constructor(maxMatches: number) {
    this.#limit = Math.min(maxMatches, MAX_LIST);
  }

  get count(): number {
    return this.#count;
  }

  /** What was found fills an answer by itself. */
  get isFull(): boolean {
    return this.#lines > this.#limit || this.#chars > MAX_ANSWER_CHARS;
  }

  add(isPathMatch: boolean, { outcome, lines = [], unreadable }: FileResult): void {
    if (this.#count === this.#outcomes.length) this.#grow();
    const index = this.#count++;
    this.#outcomes[index] = outcome;
    if (!isPathMatch && lines.length === 0 && unreadable === undefined) return;

    this.#found.push({ index, isPathMatch, lines, unreadable });
    this.#lines += lines.length;
    for (const line of lines) this.#chars += charsOf(line);
  }

  take(): BatchResult {
    return { outcomes: this.#outcomes.subarray(0, this.#count), found: this.#found };
  }

  #grow(): void {
    const grown = new Uint8Array(2 * this.#outcomes.length);
    grown.set(this.#outcomes);
    this.#outcomes = grown;
  }
}
