/** Which files a search may touch, by their path from the root: globs as plain data, since they cross threads. */
import { compileGlobs, type GlobOptions } from '../../globs/globs.ts';
import { LruCache } from '../../system/lru-cache.ts';
import { compileProtected, type ProtectedGlobs } from '../../jail/protected-globs.ts';

export interface PathGlobs {
  /** Files that are in no answer. */
  readonly protectedGlobs: readonly ProtectedGlobs[];
  /** Only files that match one of these; all when empty. */
  readonly includeGlobs: readonly string[];
  readonly excludeGlobs: readonly string[];
  /** How the two lists above are read. */
  readonly globOptions?: GlobOptions;
}

export type PathFilter = (relativePath: string) => boolean;

/** Globs come again and again, and what an automaton learned of paths is worth keeping. */
const kept = new LruCache<string, PathFilter>(8);

/** Undefined when every file may be touched. Throws `GlobError` for the first glob that cannot be read. */
export function compilePathFilter(globs: PathGlobs): PathFilter | undefined {
  const { protectedGlobs, includeGlobs, excludeGlobs, globOptions } = globs;
  if (protectedGlobs.length + includeGlobs.length + excludeGlobs.length === 0) return undefined;
  const key = spelled(protectedGlobs) + JSON.stringify([includeGlobs, excludeGlobs, globOptions]);
  const filter = kept.get(key) ?? compile(globs);
  kept.set(key, filter, 1);
  return filter;
}

/** Protected globs are the same list in every search of a worker. */
const spellings = new WeakMap<readonly ProtectedGlobs[], string>();

function spelled(globs: readonly ProtectedGlobs[]): string {
  const spelling = spellings.get(globs) ?? JSON.stringify(globs);
  spellings.set(globs, spelling);
  return spelling;
}

function compile({ protectedGlobs, includeGlobs, excludeGlobs, globOptions }: PathGlobs): PathFilter {
  const isProtected = compileProtected(protectedGlobs);
  const isIncluded = includeGlobs.length === 0 ? () => true : compileGlobs(includeGlobs, globOptions);
  const isExcluded = compileGlobs(excludeGlobs, globOptions);
  return (path) => !isProtected(path) && isIncluded(path) && !isExcluded(path);
}
