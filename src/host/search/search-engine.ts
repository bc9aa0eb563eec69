/**
 * Search in one directory tree, the same for every worker that offers it.
 *
 * Names and contents come through the jail's own way of opening, so a search cannot be led out of it.
 */
import { toBytes, toText, type ByteString } from '../byte-string.ts';
import { HostError } from '../host-error.ts';
import type { Jail } from '../jail.ts';
import { realPath } from '../pin-by-path.ts';
import { joinPath, walkDirsBelow } from '../walk-dir.ts';
import { isGone } from '../walk.ts';
import { ColdSearch, type Scope } from './cold-search.ts';
import { GitignoreFilter } from './gitignore.ts';
import { compilePathFilter, type PathGlobs } from './path-filter.ts';
import type { Query, SearchAnswer } from './query.ts';
import type { Workspace } from './thread-messages.ts';
import { ThreadPool } from './thread-pool.ts';
import { WarmIndex } from './warm-index.ts';

/** A thousand small files. Waking a thread takes a tenth of that, starting one ten times as long. */
const ALONE_MS = 5;

/** Fewer files are read faster than an index is asked. */
const INDEX_FROM_FILES = 300;

/** Where addresses end that the kernels can tell. */
const MAX_INDEX_BYTES = 1.5 * 2 ** 30;

export interface SearchEngineOptions extends Pick<PathGlobs, 'protectedGlobs'> {
  /** The directory that the jail was opened on. */
  readonly root: string;
  /** Whether file contents are kept in memory once a search was large enough. */
  readonly index: 'auto' | 'off';
  readonly indexMemoryBytes: number;
  /** Largest file that is searched. */
  readonly maxFileBytes: number;
  /** Work of a search that is done before any thread is woken. */
  readonly aloneMs?: number;
  /** Files in a search from which on the index is worth it. */
  readonly indexFromFiles?: number;
}

export interface SearchRequest extends Omit<PathGlobs, 'protectedGlobs'> {
  /** Where to search. */
  readonly path: string;
  readonly query: Omit<Query, 'maxFileBytes'>;
  /** Whether files that .gitignore files name are left out; such a search reads the files. */
  readonly respectGitignore?: boolean;
}

export class SearchEngine {
  readonly #jail: Jail;
  readonly #workspace: Workspace;
  readonly #options: SearchEngineOptions;
  readonly #pool: ThreadPool;
  readonly #aloneMs: number;
  readonly #index: WarmIndex | undefined;

  constructor(jail: Jail, options: SearchEngineOptions) {
    const { root, aloneMs = ALONE_MS, maxFileBytes, indexMemoryBytes } = options;
    this.#jail = jail;
    this.#options = options;
    this.#workspace = { root: realPath(root), mode: jail.mode };
    this.#pool = new ThreadPool(this.#workspace);
    this.#aloneMs = aloneMs;
    // A path that is checked again afterwards is too slow to keep an index by.
    if (options.index === 'auto' && jail.mode === 'descriptor' && indexMemoryBytes > 0) {
      const budgetBytes = Math.min(indexMemoryBytes, MAX_INDEX_BYTES);
      this.#index = new WarmIndex({ workspace: this.#workspace, budgetBytes, maxFileBytes });
    }
  }

  /** Throws `HostError` for the path, `GlobError` for a glob and `RegexError` for the pattern, in this order. */
  async search(request: SearchRequest, { signal }: { signal: AbortSignal }): Promise<SearchAnswer> {
    const { path: asked, query: given, respectGitignore = false, ...some } = request;
    const { protectedGlobs, maxFileBytes, indexFromFiles = INDEX_FROM_FILES } = this.#options;
    const path = this.#canonical(asked);
    const globs = { ...some, protectedGlobs };
    const accepts = compilePathFilter(globs);
    const query = { ...given, maxFileBytes };

    const warm = respectGitignore ? undefined : await this.#index?.search({ query, path, globs }, signal);
    if (warm) return warm;

    const answer = await this.#read(query, path, accepts, { asked, respectGitignore, signal });
    if (answer.filesSearched >= indexFromFiles) this.#index?.start();
    return answer;
  }

  /** Whether the next search can be answered from memory. */
  get isWarm(): boolean {
    return this.#index?.isReady ?? false;
  }

  close(): void {
    this.#index?.close();
    this.#pool.close();
  }

  async #read(
    query: Query,
    path: ByteString,
    accepts: (relativePath: string) => boolean,
    { asked, respectGitignore, signal }: { asked: string; respectGitignore: boolean; signal: AbortSignal },
  ): Promise<SearchAnswer> {
    const { root, mode } = this.#workspace;
    const surroundings = { workspace: this.#workspace, pool: this.#pool, aloneMs: this.#aloneMs, signal };
    try {
      const filter = respectGitignore ? new GitignoreFilter(walkDirsBelow(root, mode), path) : undefined;
      const scope: Scope = { path, accepts: (dir, name) => accepts(toText(joinPath(dir, name))), filter };
      return await new ColdSearch(query, scope, surroundings).run();
    } catch (error) {
      const failure = HostError.fromErrno(error, asked);
      throw isGone(failure.reason) ? new HostError('missing', asked) : failure;
    }
  }

  #canonical(path: string): ByteString {
    using dir = this.#jail.openDir(path);
    return toBytes(dir.relativePath);
  }
}
