/** Search in file contents and paths, one engine for all workers. */
export { gitignoreOf } from './scan/gitignore.ts';
export { MAX_PATTERN_BYTES } from './query.ts';
export { SearchEngine, type KeptContents, type SearchLimits, type SearchRequest } from './search-engine.ts';
