/**
 * A directory that workers of this process share, with the protection of its files, one search engine (index and
 * processes), regex threads, the line index of files, and the journal.
 *
 * It closes with the last worker that uses it. Workers with different `protect` lists share nothing.
 */
import { isDeepStrictEqual } from 'node:util';

import type { View } from './layers/layer.ts';
import { pinsOf, type PinOthers } from './layers/pins.ts';
import { DeniedPaths } from './jail/denied-paths.ts';
import { openJail, type JailMode } from './jail/jail.ts';
import type { Journal } from './journal/journal.ts';
import { shareJournal, stateDirOf, type JournalNeeds, type SharedJournal } from './journal/shared-journal.ts';
import { LineIndexes } from './text/line-index.ts';
import type { ProtectedGlobs } from './jail/protected-globs.ts';
import { protect, type Protection } from './jail/protection.ts';
import { RegexThreads } from './regex/index.ts';
import { SearchEngine, type KeptContents, type SearchLimits, type SearchRequest } from './search/index.ts';

/** Options of a worker. */
export interface WorkspaceNeeds extends Omit<SearchLimits, 'protectedGlobs'>, JournalNeeds {
  /** Globs of files that no worker reaches. */
  readonly protect: readonly string[];
  readonly mode?: JailMode;
  /** Files hidden from this worker only. */
  readonly own?: ProtectedGlobs;
  /**
   * Most memory for file contents between searches, none for 0; a worker without it accepts the value of the others.
   */
  readonly indexMemoryBytes?: number;
  /** The mount of a change; nothing is shared with workers on the directory itself. */
  readonly view?: View | undefined;
}

const INDEX_MEMORY_BYTES = 256 * 2 ** 20;

/** Shared by the workers with the same directory, jail mode and list. */
interface Shared {
  readonly protection: Protection;
  readonly search: SearchEngine;
  readonly regexes: RegexThreads;
  readonly lineIndexes: LineIndexes;
  /** Undefined if none is configured. */
  readonly journal: SharedJournal | undefined;
  /** Keeps files for open changes before they are changed. */
  readonly pins: PinOthers | undefined;
  /** The paths of the server's own files. */
  readonly own: DeniedPaths;
  /** Options of each worker, in order of arrival. */
  readonly holders: Set<WorkspaceNeeds>;
  kept: KeptContents;
  readonly release: () => void;
}

const open = new Map<string, Shared>();

function share(root: string, needs: WorkspaceNeeds): Shared {
  const kept = keptFor(root, [needs]);
  const { mode, view } = needs;
  const jail = openJail(root, { mode, view });
  return {
    ...protect(needs.protect, root),
    search: new SearchEngine(jail, { root, view, protectedGlobs: [], ...kept }),
    regexes: new RegexThreads(),
    lineIndexes: new LineIndexes(),
    journal: shareJournal(root, needs, view),
    // No pins in a change: it does not touch the workspace, so files need not be kept for other changes.
    pins: view ? undefined : pinsOf(root, { stateDir: stateDirOf(needs) }),
    own: new DeniedPaths([stateDirOf(needs)]),
    holders: new Set(),
    kept,
  };
}

/** The index holds files up to the smallest limit of all workers; larger ones are read from disk. */
function keptFor(root: string, holders: readonly WorkspaceNeeds[]): KeptContents {
  const configured = holders.findLast(({ indexMemoryBytes }) => indexMemoryBytes !== undefined)?.indexMemoryBytes;
  // A whole machine (`/`) is not indexed unless configured.
  const isIndexed = holders.every(({ view }) => view === undefined);
  const indexMemoryBytes = configured ?? (root === '/' ? 0 : INDEX_MEMORY_BYTES);
  return {
    // The kernel does not report changes below a layer.
    index: isIndexed ? 'auto' : 'off',
    indexMemoryBytes,
    maxFileBytes: Math.min(...holders.map(({ maxFileBytes }) => maxFileBytes)),
  };
}

/** The shared workspace with the options of one worker. */
export class Workspace {
  /** Canonical. */
  readonly root: string;
  readonly #key: string;
  readonly #shared: Shared;
  readonly #needs: WorkspaceNeeds;
  /** Whether the server's own files are below the root, or the root is among them. */
  readonly #hasOwn: boolean;
  /** Rebuilt when the common globs change. */
  #globs: { all: readonly ProtectedGlobs[]; withOwn: readonly ProtectedGlobs[] } | undefined;

  /** `root` is canonical. Throws `ConfigError` for an invalid glob in `protect`. */
  constructor(root: string, needs: WorkspaceNeeds) {
    this.root = root;
    this.#key = JSON.stringify([root, needs.mode, needs.protect, needs.view?.mountId, needs.view?.fd]);
    // A copy, which identifies this worker among others with the same options.
    this.#needs = { ...needs };
    this.#shared = open.get(this.#key) ?? share(root, needs);
    open.set(this.#key, this.#shared);
    this.#shared.holders.add(this.#needs);
    this.#hasOwn = this.#shared.own.globsFrom(root).length > 0;
    this.#keep();
  }

  get regexes(): RegexThreads {
    return this.#shared.regexes;
  }

  get lineIndexes(): LineIndexes {
    return this.#shared.lineIndexes;
  }

  /** Undefined if none is configured. */
  get journal(): Journal | undefined {
    return this.#shared.journal?.journal;
  }

  get pins(): PinOthers | undefined {
    return this.#shared.pins;
  }

  /** Settles when recovery has undone or finished the changes of a killed process. */
  get recovered(): Promise<void> {
    return this.#shared.journal?.recovered ?? Promise.resolve();
  }

  /** Whether a canonical path from its root is hidden from all workers. */
  protects(relativePath: string): boolean {
    const { protection, own } = this.#shared;
    if (protection.coversIn(this.root, relativePath)) return true;
    return this.#hasOwn && own.covers(`${this.root === '/' ? '' : this.root}/${relativePath}`.slice(1));
  }

  /** The same for absolute paths without their first `/`; undefined where nothing is hidden. */
  get isHidden(): ((path: string) => boolean) | undefined {
    const { protection, own } = this.#shared;
    const hasOwn = this.#hasOwn;
    if (protection.isEmpty && !hasOwn) return undefined;
    return (path) => protection.covers(`/${path}`) || (hasOwn && own.covers(path));
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
    if (this.#globs?.all !== all) {
      const ofServer = this.#shared.own.globsFrom(this.root);
      const lists = [...all, ...(own ? [own] : []), ...(ofServer.length > 0 ? [{ globs: ofServer }] : [])];
      this.#globs = { all, withOwn: lists };
    }
    const limits = { protectedGlobs: this.#globs.withOwn, maxFileBytes, timeoutMs };
    return this.#shared.search.search(request, scope, limits);
  }

  async close(): Promise<void> {
    const { holders, search, regexes, release, journal } = this.#shared;
    if (!holders.delete(this.#needs)) return;
    if (holders.size > 0) return this.#keep();

    open.delete(this.#key);
    release();
    journal?.release();
    search.close();
    await regexes.close();
  }

  #keep(): void {
    const kept = keptFor(this.root, [...this.#shared.holders]);
    if (!isDeepStrictEqual(kept, this.#shared.kept)) this.#shared.search.keep(kept);
    this.#shared.kept = kept;
  }
}
