/** Our search engine on a tree, without a bus. */
import { shippedCell } from '../../../dist/contract/index.js';
import { openJail, SearchEngine } from '../../../dist/host/index.js';

/** Those of the default configuration. */
export const PROTECTED_GLOBS = [{ globs: shippedCell.protect }];

export function openEngine(root, options = {}) {
  return new SearchEngine(openJail(root), {
    root,
    protectedGlobs: PROTECTED_GLOBS,
    maxFileBytes: 10_485_760,
    index: 'off',
    indexMemoryBytes: 0,
    ...options,
  });
}

export function search(engine, pattern, { isRegex = false, maxMatches = 1000 } = {}) {
  const query = {
    pattern,
    isRegex,
    maxMatches,
    ignoreCase: false,
    wantsContent: true,
    wantsPaths: false,
    maxLineBytes: 4096,
    contextLines: 0,
  };
  const request = { path: '.', query, includeGlobs: [], excludeGlobs: [] };
  return engine.search(request, { signal: new AbortController().signal });
}
