/** The workspaces of a worker whose paths are absolute, searched as one. Each knows paths from its own directory. */
import { basename, dirname, relative } from 'node:path';

import { escapeGlob, type GlobDialectName } from '../globs/globs.ts';
import { HostError } from '../host-error.ts';
import { openAbsoluteJail, type Jail } from '../jail/jail.ts';
import type { ProtectedGlobs } from '../jail/protected-globs.ts';
import type { SearchEngine, SearchRequest } from '../search/index.ts';
import { Workspace, type WorkspaceNeeds } from '../workspace.ts';

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

export interface SearchRootsNeeds extends Omit<WorkspaceNeeds, 'own'> {
  /** Files that only this worker cannot reach, over paths from one of the directories. */
  readonly ownIn?: (root: string) => ProtectedGlobs;
}

export class SearchRoots {
  readonly #workspaces: readonly Workspace[];

  /** Throws `HostError` for a directory that is not there. */
  constructor(roots: readonly string[], { ownIn, ...needs }: SearchRootsNeeds) {
    const canonical = new Set(openAbsoluteJail(roots).roots);
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

  /** Whether no worker reaches a canonical path, without its first `/`; undefined where all are reached. */
  get isHidden(): Workspace['isHidden'] {
    return this.#workspaces[0]!.isHidden;
  }

  async search(
    { directory, dialect, ...place }: SearchPlace,
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
      ...place,
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
