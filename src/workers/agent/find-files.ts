/** Files of the workspace by glob, without those that .gitignore excludes. */
import type { CallScope } from '#contract';
import { openDirectory } from '#host';
import type { AgentContext } from './worker.ts';

const MOST_FILES = 100_000;

export interface FileWish {
  readonly path?: string;
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
  /** Only files that contain this line. */
  readonly containing?: string;
}

/** Paths from the workspace, sorted; `isTruncated` if there are more than the search returns. */
export async function findFiles(
  { path = '.', include = [], exclude = [], containing }: FileWish,
  { jail, workspace }: Pick<AgentContext, 'jail' | 'workspace'>,
  scope: Pick<CallScope, 'signal'>,
): Promise<{ paths: string[]; isTruncated: boolean }> {
  // The search starts in any directory; a protected one looks missing.
  openDirectory(jail, path).close();
  const wantsContent = containing !== undefined;
  const query = {
    pattern: containing ?? '.',
    isRegex: !wantsContent,
    ignoreCase: false,
    wantsContent,
    wantsPaths: !wantsContent,
    maxMatches: MOST_FILES,
    maxLineBytes: 1,
    contextLines: 0,
  };
  const target = { path, includeGlobs: include, excludeGlobs: exclude, respectGitignore: true };
  const { pathMatches, contentMatches, isTruncated } = await workspace.search({ query, ...target }, scope);
  const paths = wantsContent ? contentMatches.map((match) => match.path) : pathMatches;
  return { paths: [...new Set(paths)], isTruncated };
}
