/** Runs one query on files of an open directory, in any process. */
import { toText, type ByteString } from '../../text/byte-string.ts';
import { HostError } from '../../host-error.ts';
import type { Regex } from '../../regex/index.ts';
import { joinPath, type WalkDir } from '../../walk/walk-dir.ts';
import { isGone, type SkipReason } from '../../walk/walk.ts';
import { MAX_LIST, OUTCOME, type FindingsWriter } from '../findings.ts';
import { writeLines, type Hit, type TextRange } from '../match/lines.ts';
import { loadFile, MAX_TEXT_BYTES } from '../match/load-file.ts';
import { createMatcher, type Matcher } from '../match/matcher.ts';
import type { Query } from '../query.ts';
import { TextMemory, TEXT_START } from '../match/text-memory.ts';

/** Memory beyond this, grown for one large file, is released. */
const MAX_KEPT_BYTES = 64 * 2 ** 20;

/** Shared by all queries of the thread; made when the first file is read, so that importing costs nothing. */
let sharedScratch: TextMemory | undefined;

function scratchOfThread(): TextMemory {
  if (sharedScratch && sharedScratch.buffer.length <= MAX_KEPT_BYTES) return sharedScratch;
  return (sharedScratch = new TextMemory());
}

interface Result {
  readonly outcome: number;
  readonly unreadable?: SkipReason;
  /** Lines of a text in memory. */
  readonly found?: { text: TextRange; hits: Hit[] };
}

const PATH_ONLY: Result = { outcome: OUTCOME.pathOnly };
const NOTHING_FOUND: Result = { outcome: OUTCOME.searched };

/** Limits of a file; one beyond them is left to another process. */
export interface FileBounds {
  readonly maxBytes: number;
  /** Most lines returned of it. */
  readonly maxLines: number;
}

export class FileSearch {
  readonly #query: Query;
  readonly #regex: Regex | undefined;
  readonly #lineLimit: number;
  readonly #maxFileBytes: number;
  readonly #bounds: FileBounds;
  #matcher: Matcher | undefined;
  #memory: TextMemory | undefined;

  constructor(query: Query, regex: Regex | undefined, bounds: FileBounds = { maxBytes: Infinity, maxLines: Infinity }) {
    this.#query = query;
    this.#regex = regex;
    this.#lineLimit = Math.min(query.maxMatches, MAX_LIST) + 1;
    this.#maxFileBytes = Math.min(query.maxFileBytes, MAX_TEXT_BYTES);
    this.#bounds = bounds;
  }

  /** False for a file that is left to another process. */
  search(dir: WalkDir, name: ByteString, writer: FindingsWriter): boolean {
    const memory = scratchOfThread();
    const matcher = this.#matcherIn(memory);
    const result = this.#query.wantsContent ? this.#searchContent(dir, name, matcher, memory) : PATH_ONLY;
    if (!result) return false;

    const { outcome, found, unreadable } = result;
    writer.count(outcome);
    if (!found && !unreadable && !this.#query.wantsPaths) return true;

    const path = toText(joinPath(dir.path, name));
    const isPathMatch = this.#query.wantsPaths && matcher.matchesPath(path);
    if (unreadable) writer.addSkipped(path, unreadable);
    if (found || isPathMatch) writer.addFile(path, { isPathMatch, lineCount: found?.hits.length ?? 0 });
    if (found) writeLines(writer, { memory, query: this.#query, text: found.text, hits: found.hits });
    return true;
  }

  #searchContent(dir: WalkDir, name: ByteString, matcher: Matcher, memory: TextMemory): Result | undefined {
    const { maxBytes, maxLines } = this.#bounds;
    try {
      const text = loadFile(memory, TEXT_START, dir, name, Math.min(this.#maxFileBytes, maxBytes));
      if (text === 'over-limit') return this.#maxFileBytes > maxBytes ? undefined : { outcome: OUTCOME.tooLarge };
      if (memory.kernels.hasNul(text.start, text.end - text.start)) return { outcome: OUTCOME.binary };

      const found = matcher.find(text, Math.min(this.#lineLimit, maxLines + 1));
      if (found.hits.length > maxLines) return undefined;
      return found.hits.length === 0 ? NOTHING_FOUND : { outcome: OUTCOME.searched, found };
    } catch (error) {
      const { reason } = HostError.fromErrno(error, '');
      // It was removed or replaced by a directory since: not a file of this tree any more.
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
