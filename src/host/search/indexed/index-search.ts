/**
 * Answers a query from the index, as if every file had been read.
 *
 * The kernel reports a change before the writer's system call returns, so the index always has the current contents. It
 * does not report writes through a mapping; the README of the coder worker documents that.
 */
import { HostError } from '../../host-error.ts';
import type { OpenWalkDir, WalkDir } from '../../walk/walk-dir.ts';
import { isGone, type SkipReason } from '../../walk/walk.ts';
import { FindingsWriter, MAX_LIST, OUTCOME, type Findings } from '../findings.ts';
import { isBlocked, pathOf, type FileFilter } from './index-filters.ts';
import type { IndexLoader } from './index-loader.ts';
import { TRAIT } from './file-slots.ts';
import type { IndexedDir, IndexedFile } from './index-tree.ts';
import { writeJsonLines } from '../match/json-lines.ts';
import { writeLines, type Hit, type TextRange } from '../match/lines.ts';
import { loadFile } from '../match/load-file.ts';
import type { Matcher } from '../match/matcher.ts';
import type { Query } from '../query.ts';

export interface IndexSearchOptions {
  readonly loader: IndexLoader;
  readonly openDir: OpenWalkDir;
  readonly matcher: Matcher;
  /** Whether files too large for the index are searched too. */
  readonly readsLarge: boolean;
  /** Undefined when all files belong to the search. */
  readonly filter?: FileFilter;
  /** Which files must be searched, by slot; undefined for all. */
  readonly marks?: Uint8Array;
  readonly isStopped: () => boolean;
}

interface Result {
  readonly outcome: number;
  readonly unreadable?: SkipReason;
  readonly found?: { text: TextRange; hits: Hit[] };
}

const PATH_ONLY: Result = { outcome: OUTCOME.pathOnly };
const NOTHING_FOUND: Result = { outcome: OUTCOME.searched };
const GONE: Result = { outcome: OUTCOME.gone };

export class IndexSearch {
  readonly #query: Query;
  readonly #options: IndexSearchOptions;
  readonly #writer: FindingsWriter;
  readonly #lineLimit: number;
  readonly #isJson: boolean;
  /** The directory that files were last read from. */
  #walkDir: WalkDir | undefined;

  constructor(query: Query, options: IndexSearchOptions) {
    this.#query = query;
    this.#options = options;
    this.#writer = new FindingsWriter(query);
    this.#lineLimit = Math.min(query.maxMatches, MAX_LIST) + 1;
    this.#isJson = query.mayBeJson === true && query.contextLines === 0;
  }

  run(start: IndexedDir): Findings {
    const { order } = this.#options.loader;
    const [from, to] = order.rangeOf(start);
    try {
      let at = from;
      for (const { at: index, path, reason } of order.unreadable) {
        if (index < from || index > to || !isBelow(start, path)) continue;
        this.#searchRange(order.slots.subarray(at, index));
        this.#writer.addSkipped(path, reason);
        at = index;
      }
      this.#searchRange(order.slots.subarray(at, to));
    } finally {
      this.#walkDir?.close();
    }
    return this.#writer.take();
  }

  #searchRange(range: Int32Array): void {
    const { filter, marks, isStopped, loader, readsLarge } = this.#options;
    const { wantsPaths, wantsContent } = this.#query;
    const { counts } = this.#writer;
    let { traits, outcomes } = loader.slots;
    // A loop over indexes: an iterator would cost as much as the rest of the loop.
    for (let i = 0; i < range.length; i++) {
      const slot = range[i]!;
      if (filter && isBlocked(filter, slot)) continue;
      const isLarge = readsLarge && outcomes[slot] === OUTCOME.tooLarge;
      const isMarked = wantsContent && (!marks || marks[slot] === 1 || traits[slot] !== 0 || isLarge);
      if (isMarked || wantsPaths) {
        if (this.#writer.isFull || isStopped()) return;
        this.#searchFile(loader.slots.files[slot]!);
        ({ traits, outcomes } = loader.slots);
      } else if (wantsContent) {
        counts[outcomes[slot]!]!++;
      }
    }
  }

  #searchFile(file: IndexedFile): void {
    const { matcher, loader } = this.#options;
    const isPathMatch = this.#query.wantsPaths && matcher.matchesPath(pathOf(file));
    const { outcome, found, unreadable } = this.#query.wantsContent ? this.#searchContent(file) : PATH_ONLY;
    if (outcome === OUTCOME.gone) return;
    this.#writer.count(outcome);
    if (unreadable) this.#writer.addSkipped(pathOf(file), unreadable);
    if (!isPathMatch && !found) return;

    this.#writer.addFile(pathOf(file), { isPathMatch, lineCount: found?.hits.length ?? 0 });
    if (!found) return;
    const { memory } = loader.arena;
    if (this.#isJson) writeJsonLines(this.#writer, { memory, query: this.#query, path: pathOf(file), ...found });
    else writeLines(this.#writer, { memory, query: this.#query, ...found });
  }

  #searchContent(file: IndexedFile): Result {
    const { loader, marks, readsLarge } = this.#options;
    const { slots } = loader;
    const { slot } = file;
    if (slots.has(slot, TRAIT.linked)) return this.#searchOnDisk(file);
    const outcome = slots.outcomes[slot]!;
    if (outcome === OUTCOME.tooLarge && readsLarge) return this.#searchOnDisk(file);
    if (outcome !== OUTCOME.searched) return { outcome, unreadable: file.unreadable };
    const mayHold =
      !marks ||
      marks[slot] === 1 ||
      slots.has(slot, TRAIT.unsigned) ||
      (this.#query.ignoreCase && slots.has(slot, TRAIT.caseStrangers));
    if (!mayHold) return NOTHING_FOUND;
    if (slots.textStarts[slot] === 0) return this.#searchOnDisk(file);

    return this.#searchText(slot);
  }

  #searchText(slot: number): Result {
    const { slots } = this.#options.loader;
    return this.#resultIn({ start: slots.textStarts[slot]!, end: slots.textEnds[slot]! });
  }

  #searchOnDisk({ dir, name }: IndexedFile): Result {
    const { loader, openDir } = this.#options;
    const { memory, top } = loader.arena;
    try {
      if (this.#walkDir?.path !== dir.path) {
        this.#walkDir?.close();
        this.#walkDir = undefined;
        this.#walkDir = openDir(dir.path);
      }
      const text = loadFile(memory, top, this.#walkDir, name, this.#query.maxFileBytes);
      if (text === 'over-limit') return { outcome: OUTCOME.tooLarge };
      if (memory.kernels.hasNul(text.start, text.end - text.start)) return { outcome: OUTCOME.binary };
      return this.#resultIn(text);
    } catch (error) {
      const { reason } = HostError.fromErrno(error, '');
      if (isGone(reason) || reason === 'not-a-file') return GONE;
      return { outcome: OUTCOME.unreadable, unreadable: reason };
    }
  }

  #resultIn(range: TextRange): Result {
    const found = this.#options.matcher.find(range, this.#lineLimit);
    return found.hits.length === 0 ? NOTHING_FOUND : { outcome: OUTCOME.searched, found };
  }
}

function isBelow({ path }: IndexedDir, other: string): boolean {
  return path === '' || other === path || other.startsWith(`${path}/`);
}
