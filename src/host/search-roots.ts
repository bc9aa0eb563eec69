/**
 * One search engine for each directory of a jail, made when it is first searched.
 *
 * An engine is about one directory with its threads and its memory, so a worker that is never searched has none, and
 * one over the whole machine keeps nothing in memory. Each knows paths from its own directory; here they are absolute.
 */
import { basename, dirname, relative } from 'node:path';

import { escapeGlob } from './denied-paths.ts';
import type { GlobDialectName } from './globs.ts';
import { HostError } from './host-error.ts';
import { openJail, type Jail } from './jail.ts';
import { SearchEngine, type SearchRequest } from './search/index.ts';

/** Which files are searched. */
export interface SearchPlace {
  /** Canonical and absolute. */
  directory: string;
  /** From that directory: without a `/` for the last name at any depth. */
  includeGlobs: readonly string[];
  excludeGlobs: readonly string[];
  dialect: GlobDialectName;
  isRecursive: boolean;
  respectGitignore?: boolean;
}

type SearchAnswer = Awaited<ReturnType<SearchEngine['search']>>;

const INDEX_MEMORY_BYTES = 256 * 2 ** 20;

/** A file is searched as the only one of its directory that is wanted. */
export function placeOfFile(path: string): SearchPlace {
  const includeGlobs = [`/${escapeGlob(basename(path))}`];
  return { directory: dirname(path), includeGlobs, excludeGlobs: [], dialect: 'segments', isRecursive: false };
}

/** The root of a jail that a path is in; of roots inside each other, the inner one. */
export function rootOf(path: string, { roots }: Pick<Jail, 'roots'>): string {
  const holding = roots.filter((root) => path === root || path.startsWith(prefixOf(root)));
  return holding.toSorted((a, b) => b.length - a.length)[0]!;
}

export interface SearchRootsOptions {
  maxFileBytes: number;
  /** Longest a search may take. */
  timeoutMs?: number;
  /** Over paths from one of the directories. */
  protectedGlobs?: (root: string) => string[];
}

export class SearchRoots {
  readonly #jail: Jail;
  readonly #maxFileBytes: number;
  readonly #timeoutMs: number | undefined;
  readonly #protectedGlobs: (root: string) => string[];
  readonly #engines = new Map<string, SearchEngine>();

  constructor(jail: Jail, { maxFileBytes, timeoutMs, protectedGlobs = () => [] }: SearchRootsOptions) {
    this.#jail = jail;
    this.#maxFileBytes = maxFileBytes;
    this.#timeoutMs = timeoutMs;
    this.#protectedGlobs = protectedGlobs;
  }

  async search(
    { directory, dialect, ...place }: SearchPlace,
    query: SearchRequest['query'],
    scope: { readonly signal: AbortSignal },
  ): Promise<Pick<SearchAnswer, 'contentMatches' | 'isTruncated' | 'skipped' | 'filesTooLarge'>> {
    const root = rootOf(directory, this.#jail);
    const below = relative(root, directory);
    const request: SearchRequest = {
      path: below || '.',
      query,
      globOptions: { dialect, below },
      ...place,
    };
    const searching = this.#engineFor(root).search(request, scope);
    const found = await searching.catch((error: unknown) => {
      throw error instanceof HostError ? new HostError(error.reason, directory) : error;
    });
    const absolute = <Row extends { path: string }>(row: Row) => ({ ...row, path: prefixOf(root) + row.path });
    const { isTruncated, filesTooLarge } = found;
    return {
      contentMatches: found.contentMatches.map(absolute),
      skipped: found.skipped.map(absolute),
      isTruncated,
      filesTooLarge,
    };
  }

  close(): void {
    for (const engine of this.#engines.values()) engine.close();
    this.#engines.clear();
  }

  #engineFor(root: string): SearchEngine {
    const made = this.#engines.get(root);
    if (made) return made;

    const engine = new SearchEngine(openJail(root, { mode: this.#jail.mode }), {
      root,
      protectedGlobs: this.#protectedGlobs(root),
      index: root === '/' ? 'off' : 'auto',
      indexMemoryBytes: INDEX_MEMORY_BYTES,
      maxFileBytes: this.#maxFileBytes,
      timeoutMs: this.#timeoutMs,
    });
    this.#engines.set(root, engine);
    return engine;
  }
}

function prefixOf(root: string): string {
  return root === '/' ? root : `${root}/`;
}
