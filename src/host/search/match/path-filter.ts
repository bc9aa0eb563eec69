/** Which files a search may read, by their path from the root: globs as plain data, because they cross threads. */
import { compileGlobs, type GlobOptions } from '../../globs/globs.ts';
import { LruCache } from '../../system/lru-cache.ts';
import { compileProtected, type ProtectedGlobs } from '../../jail/protected-globs.ts';

export interface PathGlobs {
  /** Files that appear in no answer. */
  readonly protectedGlobs: readonly ProtectedGlobs[];
  /** Only files that match one of these; all when empty. */
  readonly includeGlobs: readonly string[];
  readonly excludeGlobs: readonly string[];
  /** Options of the two lists above. */
  readonly globOptions?: GlobOptions;
}

export type PathFilter = (relativePath: string) => boolean;

/** Cached: the same globs come again and again, with the automaton states built so far. */
const kept = new LruCache<string, PathFilter>(8);

/** Undefined when every file is accepted. Throws `GlobError` for the first invalid glob. */
export function compilePathFilter(globs: PathGlobs): PathFilter | undefined {
  const { protectedGlobs, includeGlobs, excludeGlobs, globOptions } = globs;
  if (protectedGlobs.length + includeGlobs.length + excludeGlobs.length === 0) return undefined;
  const key = spelled(protectedGlobs) + JSON.stringify([includeGlobs, excludeGlobs, globOptions]);
  const filter = kept.get(key) ?? compile(globs);
  kept.set(key, filter, 1);
  return filter;
}

/** Cache keys of protected globs, which are the same list in every search of a worker. */
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
