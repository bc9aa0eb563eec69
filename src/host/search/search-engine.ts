/**
 * Search in one directory tree, the same for all workers.
 *
 * Names and contents are opened through the jail, so a search cannot leave it.
 */
import { toBytes, type ByteString } from '../text/byte-string.ts';
import type { Jail, JailOpening } from '../jail/jail.ts';
import { realPath } from '../jail/pin-by-path.ts';
import { compileProtected } from '../jail/protected-globs.ts';
import type { View } from '../layers/layer.ts';
import { TimeLimit, TimeLimitError } from '../system/time-limit.ts';
import { calledDirsBelow } from '../walk/walk-dir-by-syscalls.ts';
import { walkDirsBelow, type OpenWalkDir } from '../walk/walk-dir.ts';
import { Walk } from '../walk/walk.ts';
import { ColdSearch } from './scan/cold-search.ts';
import { FindingsReader, type Findings } from './findings.ts';
import { compilePathFilter, type PathFilter, type PathGlobs } from './match/path-filter.ts';
import type { Progress, Query, SearchAnswer } from './query.ts';
import type { SearchOrder, Workspace } from './scan/scan-messages.ts';
import { ScanPool } from './scan/scan-pool.ts';
import { Tally } from './answer-builder.ts';
import { Turns } from './turns.ts';
import { walkFilterOf } from './scan/walk-filter.ts';
import { WarmIndex } from './indexed/warm-index.ts';

/** Enough for some hundred small files. Waking a process takes a tenth of that, starting one ten times as long. */
const ALONE_MS = 3;
/** Name-only searches stay in-process for 20 ms (about 2,000 directories): merging results from workers costs more. */
const NAMES_ALONE_MS = 20;

/** Below 300 files a scan beats the index. Name-only searches switch by elapsed time instead. */
const INDEX_FROM_FILES = 300;
const INDEX_FROM_MS = 5;

/** Delay, so that the first searches after startup do not share the processors with starting processes. */
const PROCESSES_AFTER_MS = 1000;

const TURN_MS = 10;

/** Largest address the wasm kernels can return (signed 32-bit), with room to spare. */
const MAX_INDEX_BYTES = 1.5 * 2 ** 30;

/** Limits of a search; each worker has its own. */
export interface SearchLimits extends Pick<PathGlobs, 'protectedGlobs'> {
  /** Largest file that is searched. */
  readonly maxFileBytes: number;
  /** Time limit of a search; none when absent. */
  readonly timeoutMs?: number;
}

/** State that is kept in memory between searches. */
export interface KeptContents {
  /** Whether file contents are kept once a search was large enough. */
  readonly index: 'auto' | 'off';
  readonly indexMemoryBytes: number;
  /** Larger files are read by each search that covers them. */
  readonly maxFileBytes: number;
}

/** The limits apply to searches that have none of their own. */
export interface SearchEngineOptions extends SearchLimits, KeptContents {
  /** The directory that the jail was opened on. */
  readonly root: string;
  /** The mount through which the directory is used; needs `index: off`. */
  readonly view?: View | undefined;
  /** Work of a search that is done before any process is woken. */
  readonly aloneMs?: number;
  /** `at-once` is the default where its system calls are available. */
  readonly opening?: JailOpening;
  /** How long idle search processes are kept. */
  readonly processesIdleMs?: number;
  /** Searches of this many files start the index. */
  readonly indexFromFiles?: number;
  /** Number of index threads; derived from files and processors when absent. */
  readonly indexParts?: number;
  /** Name-only searches that take this long start the index. */
  readonly indexFromMs?: number;
}

export interface SearchRequest extends Omit<PathGlobs, 'protectedGlobs'> {
  /** Where to search. */
  readonly path: string;
  readonly query: Omit<Query, 'maxFileBytes'>;
  /** Skip files that .gitignore files name; such a search reads the files. */
  readonly respectGitignore?: boolean;
  /** Search subdirectories too (default); without them the files are read. */
  readonly isRecursive?: boolean;
}

const ROOT = '' as ByteString;

let lastSearchId = 0;

export class SearchEngine {
  readonly #jail: Jail;
  readonly #workspace: Workspace;
  readonly #openDir: OpenWalkDir;
  readonly #options: SearchEngineOptions;
  readonly #pool: ScanPool;
  #index: WarmIndex | undefined;

  constructor(jail: Jail, options: SearchEngineOptions) {
    const { root, view, opening = 'at-once' } = options;
    this.#jail = jail;
    this.#options = options;
    this.#workspace = { root: view ? toBytes(root) : realPath(root), mode: jail.mode, opening, view };
    this.#openDir = calledDirsBelow(this.#workspace, walkDirsBelow(this.#workspace.root, jail.mode, { view }));
    this.#pool = new ScanPool(this.#workspace, { idleMs: options.processesIdleMs });
    this.keep(options);
  }

  /** Sets the kept state from now on; drops the current index. */
  keep({ index, indexMemoryBytes, maxFileBytes }: KeptContents): void {
    const wasStarted = this.#index?.isStarted ?? false;
    this.#index?.close();
    // In path mode (no descriptors) every open is checked again afterwards, which is too slow for an index.
    const isOn = index === 'auto' && this.#jail.mode === 'descriptor' && indexMemoryBytes > 0;
    const budgetBytes = Math.min(indexMemoryBytes, MAX_INDEX_BYTES);
    const bounds = { workspace: this.#workspace, budgetBytes, maxFileBytes };
    this.#index = isOn ? new WarmIndex(bounds, this.#openDir, this.#options.indexParts) : undefined;
    if (wasStarted) this.#index?.start();
  }

  /**
   * Makes the first search as fast as the next: loads the index, and later starts the search processes. Does nothing
   * for a small tree. Resolves when the index has loaded or failed.
   */
  async prepare(): Promise<void> {
    const { indexFromFiles = INDEX_FROM_FILES } = this.#options;
    if (!this.#index || !hasFiles(this.#openDir, indexFromFiles)) return;
    this.#index.start();
    await this.#index.loaded();
    setTimeout(() => this.#pool.prepare(), PROCESSES_AFTER_MS).unref();
  }

  /**
   * Throws `HostError` for the path, `GlobError` for a glob and `RegexError` for the pattern, in this order, and
   * `TimeLimitError` with the progress.
   */
  async search(
    request: SearchRequest,
    { signal }: { signal: AbortSignal },
    limits: SearchLimits = this.#options,
  ): Promise<SearchAnswer> {
    const { timeoutMs } = limits;
    using limit = new TimeLimit(timeoutMs, signal);
    const progress: Progress = { files: 0, matches: 0 };
    try {
      return await this.#search(request, limits, { signal: limit.signal, progress });
    } catch (error) {
      if (!limit.isBehind(error)) throw error;
      throw new TimeLimitError(timeoutMs!, `: ${progress.files} files searched, ${progress.matches} matches`);
    }
  }

  async #search(
    request: SearchRequest,
    { protectedGlobs, maxFileBytes }: SearchLimits,
    { signal, progress }: { signal: AbortSignal; progress: Progress },
  ): Promise<SearchAnswer> {
    const { path, query: given, respectGitignore: respectsGitignore = false, isRecursive = true, ...some } = request;
    const { indexFromFiles = INDEX_FROM_FILES, indexFromMs = INDEX_FROM_MS } = this.#options;
    // No check of the root here: the index does it itself.
    const isRootOfIndex = path === '.' && this.isWarm;
    const start = isRootOfIndex ? ROOT : this.#canonical(path);
    const globs = { ...some, protectedGlobs };
    const accepts = compilePathFilter(globs);
    const query = { ...given, maxFileBytes };
    const order = { id: ++lastSearchId, query, start, globs, respectsGitignore, isRecursive };

    const mayBeWarm = !respectsGitignore && isRecursive;
    const warm = mayBeWarm ? await this.#index?.search(order, signal, progress) : undefined;
    if (warm) return withoutProtected(await answerOf(warm, query, signal), protectedGlobs);
    if (isRootOfIndex) this.#canonical(path);

    const startedMs = performance.now();
    const read = () => this.#read(order, accepts, { signal, progress });
    const answer = await (this.#index ? this.#index.whileReading(read) : read());
    const tookMs = performance.now() - startedMs;
    const { filesSearched, filesBinary, filesTooLarge, isTruncated } = answer;
    if (start === ROOT && mayBeWarm && !isTruncated && query.wantsContent) {
      this.#index?.noteReading(filesSearched + filesBinary + filesTooLarge, tookMs);
    }
    const tookLong = !query.wantsContent && tookMs >= indexFromMs;
    if (answer.filesSearched >= indexFromFiles || tookLong) this.#index?.start();
    return withoutProtected(answer, protectedGlobs);
  }

  /** Whether the next search can be answered from memory. */
  get isWarm(): boolean {
    return this.#index?.isReady ?? false;
  }

  close(): void {
    this.#index?.close();
    this.#pool.close();
  }

  #read(
    order: SearchOrder,
    accepts: PathFilter | undefined,
    scope: { signal: AbortSignal; progress: Progress },
  ): Promise<SearchAnswer> {
    const where = { start: order.start, accepts, filter: walkFilterOf(order, this.#openDir) };
    const { aloneMs = order.query.wantsContent ? ALONE_MS : NAMES_ALONE_MS } = this.#options;
    const surroundings = { openDir: this.#openDir, pool: this.#pool, aloneMs, ...scope };
    return new ColdSearch(order, where, surroundings).run();
  }

  #canonical(path: string): ByteString {
    using dir = this.#jail.openDir(path);
    return toBytes(dir.relativePath);
  }
}

/** Whether there are at least `least` files below the root; reads only names. */
function hasFiles(openDir: OpenWalkDir, least: number): boolean {
  const walk = new Walk(openDir, [{ dir: ROOT }], { start: ROOT });
  let count = 0;
  for (let step = walk.next(); step && count < least; step = walk.next()) {
    if (step.kind === 'files') count += step.names.length;
  }
  walk.close();
  return count >= least;
}

/** A protected directory that cannot be read is not reported either. */
function withoutProtected(answer: SearchAnswer, globs: SearchLimits['protectedGlobs']): SearchAnswer {
  if (answer.skipped.length === 0) return answer;
  const isProtected = compileProtected(globs);
  return { ...answer, skipped: answer.skipped.filter(({ path }) => !isProtected(path)) };
}

/** Large findings are taken in turns. */
async function answerOf(findings: readonly Findings[], query: Query, signal: AbortSignal): Promise<SearchAnswer> {
  const turns = new Turns(signal, TURN_MS);
  const tally = new Tally(query);
  for (const found of findings) {
    const reader = new FindingsReader(found);
    while (!tally.add(reader, () => turns.isOver)) await turns.next();
    if (tally.isDone) break;
  }
  return tally.answer;
}
