/**
 * One search engine for each allowed path, made when it is first searched.
 *
 * An engine is about one directory with its threads and its memory, so a worker that is never searched has none. What
 * holds the whole machine keeps nothing in memory.
 */
import { relative } from 'node:path';

import { HostError, openJail, SearchEngine, type Jail } from '#host';

type Request = Parameters<SearchEngine['search']>[0];

export interface SearchPlace {
  /** Canonical and absolute. */
  directory: string;
  /** From that directory: without a `/` for the last name at any depth. */
  includeGlobs: string[];
  isRecursive: boolean;
}

interface Found {
  file: string;
  line: number;
  text: string;
}

const INDEX_MEMORY_BYTES = 256 * 2 ** 20;

export class SearchRoots {
  readonly #jail: Jail;
  readonly #maxFileBytes: number;
  readonly #engines = new Map<string, SearchEngine>();

  constructor(jail: Jail, maxFileBytes: number) {
    this.#jail = jail;
    this.#maxFileBytes = maxFileBytes;
  }

  async search(
    { directory, includeGlobs, isRecursive }: SearchPlace,
    query: Request['query'],
    scope: { signal: AbortSignal },
  ): Promise<{ found: Found[]; isTruncated: boolean }> {
    const root = this.#jail.roots.find((candidate) => isWithin(candidate, directory))!;
    const below = relative(root, directory);
    const request: Request = {
      path: below || '.',
      query,
      includeGlobs,
      excludeGlobs: [],
      globOptions: { dialect: 'segments', below },
      isRecursive,
    };
    const searching = this.#engineFor(root).search(request, scope);
    const { contentMatches, isTruncated } = await searching.catch((error: unknown) => {
      // The engine knows the directory by its way from the root.
      throw error instanceof HostError ? new HostError(error.reason, directory) : error;
    });
    const prefix = root === '/' ? '' : root;
    const found = contentMatches.map(({ path, line, text }) => ({ file: `${prefix}/${path}`, line, text }));
    return { found, isTruncated };
  }

  close(): void {
    for (const engine of this.#engines.values()) engine.close();
    this.#engines.clear();
  }

  #engineFor(root: string): SearchEngine {
    let engine = this.#engines.get(root);
    if (!engine) {
      engine = new SearchEngine(openJail(root, { mode: this.#jail.mode }), {
        root,
        protectedGlobs: [],
        maxFileBytes: this.#maxFileBytes,
        index: root === '/' ? 'off' : 'auto',
        indexMemoryBytes: INDEX_MEMORY_BYTES,
      });
      this.#engines.set(root, engine);
    }
    return engine;
  }
}

function isWithin(root: string, path: string): boolean {
  return root === '/' || path === root || path.startsWith(`${root}/`);
}
