/** Which files a search may touch, by their path from the root: globs as plain data, since they cross threads. */
import { compileGlobs, type GlobOptions } from '../globs.ts';

export interface PathGlobs {
  /** Files that are in no answer. */
  readonly protectedGlobs: readonly string[];
  /** Only files that match one of these; all when empty. */
  readonly includeGlobs: readonly string[];
  readonly excludeGlobs: readonly string[];
  /** How the two lists above are read; the protected ones are always globset, from the root. */
  readonly globOptions?: GlobOptions;
}

/** Throws `GlobError` for the first glob that cannot be read. */
export function compilePathFilter(globs: PathGlobs): (relativePath: string) => boolean {
  const isProtected = compileGlobs(globs.protectedGlobs);
  const isIncluded = globs.includeGlobs.length === 0 ? () => true : compileGlobs(globs.includeGlobs, globs.globOptions);
  const isExcluded = compileGlobs(globs.excludeGlobs, globs.globOptions);
  return (path) => !isProtected(path) && isIncluded(path) && !isExcluded(path);
}
