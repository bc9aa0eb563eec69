/**
 * A directory that workers of this process work in, with what they have in common there: the protection of its files, one
 * search engine with its index and its processes, threads for regexes, and where the lines of files begin.
 *
 * Each worker holds it; it ends with the last of them. Workers with another list `protect` share nothing.
 */
import { isDeepStrictEqual } from 'node:util';

import { openJail, type JailMode } from './jail/jail.ts';
import { LineIndexes } from './text/line-index.ts';
import type { ProtectedGlobs } from './jail/protected-globs.ts';
import { protect, type Protection } from './jail/protection.ts';
import { RegexThreads } from './regex/index.ts';
import { SearchEngine, type KeptContents, type SearchLimits, type SearchRequest } from './search/index.ts';

/** What a worker wants of it. */
export interface WorkspaceNeeds extends Omit<SearchLimits, 'protectedGlobs'> {
  /** Globs of files that no worker reaches. */
  readonly protect: readonly string[];
  readonly mode?: JailMode;
  /** Files that only this worker cannot reach. */
  readonly own?: ProtectedGlobs;
  /** Most memory for file contents between searches, none for 0; a worker that does not say so leaves it to the others. */
  readonly indexMemoryBytes?: number;
}

const INDEX_MEMORY_BYTES = 256 * 2 ** 20;

/** One for each directory, way of holding files and list. */
interface Shared {
  readonly protection: Protection;
  readonly search: SearchEngine;
  readonly regexes: RegexThreads;
  readonly lineIndexes: LineIndexes;
  /** What each worker wants, in the order in which they came. */
  readonly holders: Set<WorkspaceNeeds>;
  kept: KeptContents;
  readonly giveUp: () => void;
}

const open = new Map<string, Shared>();

function share(root: string, needs: WorkspaceNeeds): Shared {
  const kept = keptFor(root, [needs]);
  const jail = openJail(root, { mode: needs.mode });
  return {
    ...protect(needs.protect, root),
    search: new SearchEngine(jail, { root, protectedGlobs: [], ...kept }),
    regexes: new RegexThreads(),
    lineIndexes: new LineIndexes(),
    holders: new Set(),
    kept,
  };
}

/** The index holds files up to the smallest limit of all workers; larger ones are read from disk. */
function keptFor(root: string, holders: readonly WorkspaceNeeds[]): KeptContents {
  const told = holders.findLast(({ indexMemoryBytes }) => indexMemoryBytes !== undefined)?.indexMemoryBytes;
  // A whole machine is not kept unless someone says so.
  const indexMemoryBytes = told ?? (root === '/' ? 0 : INDEX_MEMORY_BYTES);
  return {
    index: 'auto',
    indexMemoryBytes,
    maxFileBytes: Math.min(...holders.map(({ maxFileBytes }) => maxFileBytes)),
  };
}

/** A workspace as one worker has it. */
export class Workspace {
  /** Canonical. */
  readonly root: string;
  readonly #key: string;
  readonly #shared: Shared;
  readonly #needs: WorkspaceNeeds;
  /** Made anew when the globs that all have are others. */
  #globs: { all: readonly ProtectedGlobs[]; withOwn: readonly ProtectedGlobs[] } | undefined;

  /** `root` is canonical. Throws `ConfigError` for a glob in `protect` that cannot be read. */
  constructor(root: string, needs: WorkspaceNeeds) {
    this.root = root;
    this.#key = JSON.stringify([root, needs.mode, needs.protect]);
    // Its own object, which tells it from another worker that wants the same.
    this.#needs = { ...needs };
    this.#shared = open.get(this.#key) ?? share(root, needs);
    open.set(this.#key, this.#shared);
    this.#shared.holders.add(this.#needs);
    this.#keep();
  }

  get regexes(): RegexThreads {
    return this.#shared.regexes;
  }

  get lineIndexes(): LineIndexes {
    return this.#shared.lineIndexes;
  }

  /** Whether no worker reaches a canonical path from its root. */
  protects(relativePath: string): boolean {
    return this.#shared.protection.covers(`${this.root === '/' ? '' : this.root}/${relativePath}`);
  }

  /** The same for absolute paths without their first `/`; undefined where everything is reached. */
  get isHidden(): ((path: string) => boolean) | undefined {
    const { protection } = this.#shared;
    return protection.isEmpty ? undefined : (path) => protection.covers(`/${path}`);
  }

  /** Makes the first search as fast as the next. */
  prepare(): Promise<void> {
    return this.#shared.search.prepare();
  }

  /** Whether the next search can be answered from memory. */
  get isWarm(): boolean {
    return this.#shared.search.isWarm;
  }

  search(request: SearchRequest, scope: { readonly signal: AbortSignal }): ReturnType<SearchEngine['search']> {
    const { own, maxFileBytes, timeoutMs } = this.#needs;
    const all = this.#shared.protection.globsFrom(this.root);
    if (this.#globs?.all !== all) this.#globs = { all, withOwn: own ? [...all, own] : all };
    const limits = { protectedGlobs: this.#globs.withOwn, maxFileBytes, timeoutMs };
    return this.#shared.search.search(request, scope, limits);
  }

  async close(): Promise<void> {
    const { holders, search, regexes, giveUp } = this.#shared;
    if (!holders.delete(this.#needs)) return;
    if (holders.size > 0) return this.#keep();

    open.delete(this.#key);
    giveUp();
    search.close();
    await regexes.close();
  }

  #keep(): void {
    const kept = keptFor(this.root, [...this.#shared.holders]);
    if (!isDeepStrictEqual(kept, this.#shared.kept)) this.#shared.search.keep(kept);
    this.#shared.kept = kept;
  }
}
