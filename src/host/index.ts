/** What touches the operating system, one capability a file. */
export { toText, type ByteString } from './byte-string.ts';
export { firstNames } from './first-names.ts';
export { FolderNames } from './folder-names.ts';
export { GlobError } from './glob-syntax.ts';
export { compileGlobs } from './globs.ts';
export { HostError, type HostReason } from './host-error.ts';
export { openJail, type Jail, type JailMode } from './jail.ts';
export { JailChanges } from './jail-changes.ts';
export type { JailDir } from './jail-dir.ts';
export type { JailEntry } from './jail-entry.ts';
export type { JailFile } from './jail-file.ts';
export { versionOf } from './jail-version.ts';
export { LineIndex, LineIndexes, readLines } from './line-index.ts';
export { bytesAsSource, type ByteSource } from './line-index-block.ts';
export { compileRegex, parseReplacement, RegexError, ReplacementError, type Regex } from './regex/index.ts';
export { MAX_PATTERN_BYTES, SearchEngine } from './search/index.ts';
export {
  chomp,
  countLines,
  endsWithNewline,
  lineEnd,
  lineEnding,
  linesAround,
  lineStart,
  locateLines,
  type ByteRange,
} from './text-lines.ts';
