/**
 * A query answered from the index, as if every file had been read.
 *
 * What was found is only told of a file that still looks as it did when it was read: changes that the kernel does
 * not announce, such as writes through a mapping, are then met by reading it again.
 */
import { lstatSync, type Stats } from 'node:fs';

import { toText, type ByteString } from '../byte-string.ts';
import { HostError } from '../host-error.ts';
import { joinPath, toPath, type OpenWalkDir, type WalkDir } from '../walk-dir.ts';
import { isGone, type SkipReason } from '../walk.ts';
import { OUTCOME } from './batch.ts';
import type { Arena } from './index-arena.ts';
import type { IndexLoader } from './index-loader.ts';
import { sortedEntries, type IndexedDir, type IndexedFile } from './index-tree.ts';
import { showLines, type TextRange } from './lines.ts';
import { loadFile } from './load-file.ts';
import type { Matcher } from './matcher.ts';
import type { LineFound, Query, SearchAnswer } from './query.ts';
import { MAX_LIST, Tally } from './tally.ts';

export interface IndexSearchOptions {
  readonly root: ByteString;
  readonly loader: IndexLoader;
  readonly arena: Arena;
  readonly openDir: OpenWalkDir;
  readonly matcher: Matcher;
  /** Undefined when every file belongs to the search. */
  readonly accepts?: (relativePath: string) => boolean;
  /** Whether a file must be looked through. */
  readonly mayHold: (file: IndexedFile) => boolean;
  readonly isStopped: () => boolean;
}

interface Outcome {
  outcome: number;
  lines: LineFound[];
  unreadable?: SkipReason;
}

const NO_LINES: LineFound[] = [];

export class IndexSearch {
  readonly #query: Query;
  readonly #options: IndexSearchOptions;
  readonly #tally: Tally;
  readonly #lineLimit: number;
  /** The directory that files were last read from. */
  #held: WalkDir | undefined;

  constructor(query: Query, options: IndexSearchOptions) {
    this.#query = query;
    this.#options = options;
    this.#tally = new Tally(query);
    this.#lineLimit = Math.min(query.maxMatches, MAX_LIST) + 1;
  }

  run(start: IndexedDir): SearchAnswer {
    try {
      this.#searchDir(start);
    } finally {
      this.#held?.close();
    }
    return this.#tally.answer;
  }

  #searchDir(dir: IndexedDir): void {
    if (dir.unreadable) this.#tally.addSkipped({ path: dir.path, reason: dir.unreadable });
    const prefix = dir.path === '' ? '' : `${dir.path}/`;
    const needsPath = this.#query.wantsPaths || this.#options.accepts !== undefined;
    for (const entry of sortedEntries(dir)) {
      if (entry.kind === 'dir') this.#searchDir(entry);
      else this.#searchFile(dir, entry, needsPath ? toText(`${prefix}${entry.name}` as ByteString) : '');
      if (this.#tally.isDone || this.#options.isStopped()) return;
    }
  }

  #searchFile(dir: IndexedDir, file: IndexedFile, path: string): void {
    const { matcher, accepts } = this.#options;
    if (accepts && !accepts(path)) return;

    const isPathMatch = this.#query.wantsPaths && matcher.matchesPath(path);
    if (!this.#query.wantsContent) {
      if (isPathMatch) this.#tally.addFound(joinPath(dir.path, file.name), { isPathMatch, lines: NO_LINES });
      return;
    }
    const { outcome, lines, unreadable } = this.#searchContent(dir, file);
    if (outcome === OUTCOME.gone) return;
    this.#tally.count(outcome);
    if (isPathMatch || unreadable || lines.length > 0) {
      this.#tally.addFound(joinPath(dir.path, file.name), { isPathMatch, lines, unreadable });
    }
  }

  #searchContent(dir: IndexedDir, file: IndexedFile): Outcome {
    if (file.isLinked) return this.#searchOnDisk(dir, file);
    const known = { outcome: file.outcome, lines: NO_LINES, unreadable: file.unreadable };
    if (file.outcome !== OUTCOME.searched) return known;
    if (!this.#options.mayHold(file)) return known;
    if (!file.text) return this.#searchOnDisk(dir, file);
    const lines = this.#linesIn(file.text);
    if (lines.length === 0 || this.#isAsItWas(dir, file)) return { outcome: OUTCOME.searched, lines };

    this.#options.loader.reload(dir, file.name);
    const now = dir.entries.get(file.name);
    if (now?.kind !== 'file') return { outcome: OUTCOME.gone, lines: NO_LINES };
    return { outcome: now.outcome, lines: now.text ? this.#linesIn(now.text) : NO_LINES, unreadable: now.unreadable };
  }

  #searchOnDisk(dir: IndexedDir, { name }: IndexedFile): Outcome {
    const { arena, openDir } = this.#options;
    try {
      if (this.#held?.path !== dir.path) {
        this.#held?.close();
        this.#held = undefined;
        this.#held = openDir(dir.path);
      }
      const text = loadFile(arena.memory, arena.top, this.#held, name, this.#query.maxFileBytes);
      if (text === 'over-limit') return { outcome: OUTCOME.tooLarge, lines: NO_LINES };
      const isBinary = arena.memory.kernels.hasNul(text.start, text.end - text.start) !== 0;
      return isBinary
        ? { outcome: OUTCOME.binary, lines: NO_LINES }
        : { outcome: OUTCOME.searched, lines: this.#linesIn(text) };
    } catch (error) {
      const { reason } = HostError.fromErrno(error, '');
      if (isGone(reason)) return { outcome: OUTCOME.gone, lines: NO_LINES };
      return { outcome: OUTCOME.unreadable, lines: NO_LINES, unreadable: reason };
    }
  }

  #linesIn(range: TextRange): LineFound[] {
    const { text, hits } = this.#options.matcher.find(range, this.#lineLimit);
    return hits.length === 0 ? NO_LINES : showLines(this.#options.arena.memory, text, hits, this.#query);
  }

  /** Only numbers are compared, so it does not matter where the path leads by now. */
  #isAsItWas(dir: IndexedDir, { name, identity }: IndexedFile): boolean {
    const { root } = this.#options;
    const path = toPath(`${root === '/' ? '' : root}/${joinPath(dir.path, name)}`);
    const stat = lookAt(path);
    return (
      stat?.ino === identity.ino &&
      stat.size === identity.size &&
      stat.mtimeMs === identity.mtimeMs &&
      stat.ctimeMs === identity.ctimeMs
    );
  }
}

function lookAt(path: string | Buffer): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}
