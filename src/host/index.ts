/** What touches the operating system, one capability a file. */
export { toText, type ByteString } from './byte-string.ts';
export { characterStart, wholeCharacters } from './characters.ts';
export { Children, SpawnError, type ChildSpec, type Containment } from './children/index.ts';
export { leftGroups, ownedGroup } from './children/left-groups.ts';
export { ownCgroup } from './children/own-cgroup.ts';
export {
  Execution,
  KeptOutput,
  OutputQueue,
  type ExecutionResult,
  type OutputPiece,
  type OutputSoFar,
  type OutputStream,
  type Process,
  type ProcessEnd,
  type ProcessInput,
} from './process/index.ts';
export { kindOf, type EntryKind } from './entry-look.ts';
export { escapeJson } from './escape-json.ts';
export { keptAttributes, type KeptAttributes } from './file-access.ts';
export { FileFault, type FaultReason } from './file-fault.ts';
export type {
  ChangeMode,
  FileInfo,
  FileScope,
  FileSystem,
  GrepAnswer,
  GrepRequest,
  Listing,
  MakeDirectory,
  OpenFile,
  SedRequest,
  SedResult,
  WriteFile,
} from './file-system.ts';
export { firstNames } from './first-names.ts';
export { FolderNames } from './folder-names.ts';
export { GlobError } from './glob-syntax.ts';
export { compileGlobs, type GlobDialectName } from './globs.ts';
export { sweepSoon } from './sweep-leftovers.ts';
export { TimeLimit, TimeLimitError } from './time-limit.ts';
export { HostError, type HostReason } from './host-error.ts';
export { readImage } from './image-file.ts';
export { pathHint } from './nearest-path.ts';
export { HostFileSystem, type HostFileSystemOptions } from './host-file-system.ts';
export { isHijackVariable } from './hijack-env.ts';
export { openAbsoluteJail, openJail, type Jail, type JailChoice, type JailMode, type JailOpening } from './jail.ts';
export { JailChanges } from './jail-changes.ts';
export type { JailDir } from './jail-dir.ts';
export type { JailEntry } from './jail-entry.ts';
export type { JailFile } from './jail-file.ts';
export { visitBelow, type ListedEntry } from './jail-list.ts';
export { versionAside, versionOf } from './jail-version.ts';
export { LineIndex, type LineIndexes, readLines } from './line-index.ts';
export { BLOCK_BYTES as LINE_BLOCK_BYTES, bytesAsSource, LineBlock, type ByteSource } from './line-index-block.ts';
export {
  compileRegex,
  RegexError,
  RegexThreads,
  ReplacementError,
  type Regex,
  type ReplacedText,
} from './regex/index.ts';
export { gitignoreOf, MAX_PATTERN_BYTES, SearchEngine } from './search/index.ts';
export { isAlive, OWN_MARK } from './process-mark.ts';
export { placeOfFile, rootOf, SearchRoots, type SearchPlace } from './search-roots.ts';
export { ASSIGNMENT, shellSignInArgs, shellSignInLine, toShellLine, type ShellSign } from './shell-signs.ts';
export { compileProtected, plainGlobs } from './protected-globs.ts';
export { Workspace } from './workspace.ts';
export { splitWords, WordsError } from './shell-words.ts';
export { takeTurn } from './take-turn.ts';
export { Turns } from './search/turns.ts';
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
