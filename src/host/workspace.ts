/**
 * A directory that workers of this process work in, with what they have in common there: the protection of its files, one
 * search engine with its index and its processes, threads for regexes, and where the lines of files begin.
 *
 * Each worker holds it; it ends with the last of them. Workers with another list `protect` share nothing.
 */
import { openJail, type JailMode } from './jail.ts';
import { LineIndexes } from './line-index.ts';
import type { ProtectedGlobs } from './protected-globs.ts';
import { protect, type Protection } from './protection.ts';
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

/** What the workers share; one for each directory, way of holding files and list. */
class SharedWorkspace {
  readonly protection: Protection;
  readonly search: SearchEngine;
  readonly regexes = new RegexThreads();
  readonly lineIndexes = new LineIndexes();
  /** In the order in which they came. */
  readonly #needs = new Set<WorkspaceNeeds>();
  readonly #root: string;
  readonly #giveUp: () => void;
  #kept: KeptContents;

  constructor(root: string, { protect: globs, mode, ...needs }: WorkspaceNeeds) {
    const { protection, giveUp } = protect(globs, root);
    this.#root = root;
    this.#giveUp = giveUp;
    this.protection = protection;
    this.#kept = this.#keptFor([needs]);
    this.search = new SearchEngine(openJail(root, { mode }), { root, protectedGlobs: [], ...this.#kept });
  }

  join(needs: WorkspaceNeeds): void {
    this.#needs.add(needs);
    this.#keep();
  }

  async leave(needs: WorkspaceNeeds): Promise<void> {
    this.#needs.delete(needs);
    if (this.#needs.size > 0) return this.#keep();

    this.#giveUp();
    this.search.close();
    await this.regexes.close();
  }

  get isLeft(): boolean {
    return this.#needs.size === 0;
  }

  #keep(): void {
    const kept = this.#keptFor([...this.#needs]);
    const isSame =
      kept.indexMemoryBytes === this.#kept.indexMemoryBytes && kept.maxFileBytes === this.#kept.maxFileBytes;
    if (!isSame) this.search.keep(kept);
    this.#kept = kept;
  }

  /** What everybody searches is kept; the rest of a file that only some may search is read by them. */
  #keptFor(all: readonly Pick<WorkspaceNeeds, 'indexMemoryBytes' | 'maxFileBytes'>[]): KeptContents {
    const told = all.findLast(({ indexMemoryBytes }) => indexMemoryBytes !== undefined)?.indexMemoryBytes;
    // A whole machine is not kept unless someone says so.
    const indexMemoryBytes = told ?? (this.#root === '/' ? 0 : INDEX_MEMORY_BYTES);
    return { index: 'auto', indexMemoryBytes, maxFileBytes: Math.min(...all.map(({ maxFileBytes }) => maxFileBytes)) };
  }
}

const open = new Map<string, SharedWorkspace>();

/** A workspace as one worker has it. */
export class Workspace {
  /** Canonical. */
  readonly root: string;
  readonly #key: string;
  readonly #shared: SharedWorkspace;
  readonly #needs: WorkspaceNeeds;
  /** Made anew when the globs that all have are others. */
  #globs: { all: readonly ProtectedGlobs[]; withOwn: readonly ProtectedGlobs[] } | undefined;

  /** `root` is canonical. Throws `ConfigError` for a glob in `protect` that cannot be read. */
  constructor(root: string, needs: WorkspaceNeeds) {
    this.root = root;
    this.#key = JSON.stringify([root, needs.mode, needs.protect]);
    // Its own, so that it can be told from another worker's.
    this.#needs = { ...needs };
    this.#shared = open.get(this.#key) ?? new SharedWorkspace(root, needs);
    open.set(this.#key, this.#shared);
    this.#shared.join(this.#needs);
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
    const { maxFileBytes, timeoutMs } = this.#needs;
    return this.#shared.search.search(request, scope, {
      protectedGlobs: this.#protectedGlobs(),
      maxFileBytes,
      timeoutMs,
    });
  }

  async close(): Promise<void> {
    const leaving = this.#shared.leave(this.#needs);
    if (this.#shared.isLeft) open.delete(this.#key);
    await leaving;
  }

  #protectedGlobs(): readonly ProtectedGlobs[] {
    const all = this.#shared.protection.globsFrom(this.root);
    const { own } = this.#needs;
    if (this.#globs?.all !== all) this.#globs = { all, withOwn: own ? [...all, own] : all };
    return this.#globs.withOwn;
  }
}
