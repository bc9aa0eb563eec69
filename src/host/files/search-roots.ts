/**
 * Searches several workspaces as one, for workers whose paths are absolute. Each workspace uses paths relative to its
 * own directory.
 */
import { basename, dirname, relative } from 'node:path';

import { escapeGlob, type GlobDialectName } from '../globs/globs.ts';
import type { Journal } from '../journal/journal.ts';
import { HostError } from '../host-error.ts';
import { openAbsoluteJail, type Jail } from '../jail/jail.ts';
import type { ProtectedGlobs } from '../jail/protected-globs.ts';
import type { SearchEngine, SearchRequest } from '../search/index.ts';
import type { PinOthers } from '../layers/pins.ts';
import { Workspace, type WorkspaceNeeds } from '../workspace.ts';

/** Which files are searched. */
export interface SearchTarget {
  /** Canonical and absolute. */
  directory: string;
  /** Relative to that directory; a glob without a `/` matches the last name at any depth. */
  includeGlobs: readonly string[];
  excludeGlobs: readonly string[];
  dialect: GlobDialectName;
  isRecursive: boolean;
  respectGitignore?: boolean;
}

type SearchAnswer = Awaited<ReturnType<SearchEngine['search']>>;

/** Searches a single file: the only one of its directory that the globs select. */
export function targetOfFile(path: string): SearchTarget {
  const includeGlobs = [`/${escapeGlob(basename(path))}`];
  return { directory: dirname(path), includeGlobs, excludeGlobs: [], dialect: 'segments', isRecursive: false };
}

/** The root that contains a path; of nested roots, the inner one. */
export function rootOf(path: string, { roots }: Pick<Jail, 'roots'>): string {
  const holding = roots.filter((root) => path === root || path.startsWith(prefixOf(root)));
  return holding.toSorted((a, b) => b.length - a.length)[0]!;
}

export interface SearchRootsNeeds extends Omit<WorkspaceNeeds, 'own'> {
  /** Files hidden from this worker only, as globs relative to one of the directories. */
  readonly ownIn?: (root: string) => ProtectedGlobs;
}

export class SearchRoots {
  readonly #workspaces: readonly Workspace[];

  /** Throws `HostError` for a directory that does not exist. */
  constructor(roots: readonly string[], { ownIn, ...needs }: SearchRootsNeeds) {
    const canonical = needs.view ? [needs.view.root] : new Set(openAbsoluteJail(roots).roots);
    this.#workspaces = Array.from(canonical, (root) => new Workspace(root, { ...needs, own: ownIn?.(root) }));
  }

  /** Canonical. */
  get roots(): string[] {
    return this.#workspaces.map(({ root }) => root);
  }

  get regexes(): Workspace['regexes'] {
    return this.#workspaces[0]!.regexes;
  }

  get lineIndexes(): Workspace['lineIndexes'] {
    return this.#workspaces[0]!.lineIndexes;
  }

  /** Whether a canonical path, without its first `/`, is hidden from every worker; undefined if nothing is hidden. */
  get isHidden(): Workspace['isHidden'] {
    return this.#workspaces[0]!.isHidden;
  }

  /** The journal of a canonical absolute path. */
  journalOf = (path: string): Journal | undefined =>
    this.#workspaces.find(({ root }) => root === rootOf(path, this))?.journal;

  /** Keeps files for open changes before they are changed. */
  pins: PinOthers = async (paths) => {
    for (const { pins } of this.#workspaces) await pins?.(paths);
  };

  async recovered(): Promise<void> {
    await Promise.all(this.#workspaces.map((workspace) => workspace.recovered));
  }

  async search(
    { directory, dialect, ...target }: SearchTarget,
    query: SearchRequest['query'],
    scope: { readonly signal: AbortSignal },
  ): Promise<Pick<SearchAnswer, 'contentMatches' | 'isTruncated' | 'skipped' | 'filesTooLarge'>> {
    const root = rootOf(directory, this);
    const workspace = this.#workspaces.find((candidate) => candidate.root === root)!;
    const below = relative(root, directory);
    const request: SearchRequest = {
      path: below || '.',
      query,
      globOptions: { dialect, below },
      ...target,
    };
    const found = await workspace.search(request, scope).catch((error: unknown) => {
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

  async close(): Promise<void> {
    await Promise.all(this.#workspaces.map((workspace) => workspace.close()));
  }
}

function prefixOf(root: string): string {
  return root === '/' ? root : `${root}/`;
}
