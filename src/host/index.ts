/** Everything that touches the operating system, one capability per folder. */
export { NoTerminalError } from './terminal/terminal.ts';
export { toText, type ByteString } from './text/byte-string.ts';
export { closestLines, type ClosestLine } from './text/closest-lines.ts';
export { characterStart, wholeCharacters } from './text/characters.ts';
export { Children, SpawnError, type ChildSpec, type Containment, type Launch } from './children/index.ts';
export { staleCgroups, ownedGroup } from './children/containments/stale-cgroups.ts';
export { ownCgroup } from './children/containments/own-cgroup.ts';
export {
  Execution,
  KeptOutput,
  OutputQueue,
  OutputRing,
  type ExecutionResult,
  type OutputPiece,
  type OutputSoFar,
  type OutputStream,
  type Process,
  type ProcessEnd,
  type ProcessInput,
  type RingPiece,
} from './process/index.ts';
export { kindOf, type EntryKind } from './walk/entry-kind.ts';
export { escapeJson } from './text/escape-json.ts';
export {
  ComparablePieces,
  contentChange,
  isComparable,
  MAX_COMPARED_BYTES,
  removal,
  type ChangedEntry,
  type NoteChange,
} from './changes/note-change.ts';
export { diffLines } from './changes/line-hunks.ts';
export { keptAttributes, type KeptAttributes } from './changes/file-access.ts';
export { FileFault, type FaultReason } from './files/file-fault.ts';
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
} from './files/file-system.ts';
export { firstNames } from './walk/first-names.ts';
export { FolderNames } from './walk/folder-names.ts';
export { GlobError } from './globs/glob-syntax.ts';
export { compileGlobs, type GlobDialectName } from './globs/globs.ts';
export { sweepSoon } from './changes/sweep-leftovers.ts';
export { ownAccount } from './system/account.ts';
export { LruCache } from './system/lru-cache.ts';
export { TimeLimit, TimeLimitError } from './system/time-limit.ts';
export { HostError, type HostReason } from './host-error.ts';
export { openDirectory } from './jail/open-unprotected.ts';
export { readImage } from './text/image-file.ts';
export { pathHint } from './jail/nearest-path.ts';
export { HostFileSystem, type HostFileSystemOptions } from './files/host-file-system.ts';
export { isListening, listsListener, SOCKET_LISTS } from './system/listening-port.ts';
export { isHijackVariable } from './system/hijack-env.ts';
export { isWithheld, otlpHeaderSecrets, withhold } from './system/withheld-env.ts';
export {
  openAbsoluteJail,
  openJail,
  type Jail,
  type JailChoice,
  type JailMode,
  type JailOpening,
} from './jail/jail.ts';
export {
  LayerError,
  type Layer,
  type LayerParts,
  type LayerReason,
  type MountedLayer,
  type View,
} from './layers/layer.ts';
export { inViewOf, withinLayer, type InView } from './layers/within-layer.ts';
export { Layers, layersOf, type CommitOwn } from './layers/layers.ts';
export type { OpenLayer } from './layers/open-layer.ts';
export { pinsOf, type PinOthers } from './layers/pins.ts';
export { JailChanges, type ChangeScope } from './changes/jail-changes.ts';
export { bytesOf as keptBytes } from './journal/evict.ts';
export type { Journal } from './journal/journal.ts';
export { showChange, type ShownChange } from './journal/record-contents.ts';
export { isLost, type JournalRecord } from './journal/records.ts';
export { findUndo, makeUndo, NoRecord, type UndoRequest } from './journal/undo/undo.ts';
export type { UndoLoss } from './journal/undo/undo-losses.ts';
export type { UndoConflict, UndoPlan } from './journal/undo/undo-plan.ts';
export { NOTHING_THERE, SetConflict, type SetChange, type SetEntry, type SetOutcome } from './journal/set-entry.ts';
export type { JailDir } from './jail/jail-dir.ts';
export type { JailEntry } from './jail/jail-entry.ts';
export type { JailFile } from './jail/jail-file.ts';
export { visitBelow, type ListedEntry } from './jail/jail-list.ts';
export { versionAside, versionOf } from './changes/jail-version.ts';
export { LineIndex, type LineIndexes, readLines } from './text/line-index.ts';
export { BLOCK_BYTES as LINE_BLOCK_BYTES, bytesAsSource, LineBlock, type ByteSource } from './text/line-index-block.ts';
export {
  compileRegex,
  RegexError,
  RegexThreads,
  ReplacementError,
  type Regex,
  type ReplacedText,
} from './regex/index.ts';
export { gitignoreOf, MAX_PATTERN_BYTES, SearchEngine } from './search/index.ts';
export { isAlive, OWN_MARK } from './system/process-mark.ts';
export { targetOfFile, rootOf, SearchRoots, type SearchTarget } from './files/search-roots.ts';
export { ASSIGNMENT, shellSignInArgs, shellSignInLine, toShellLine, type ShellSign } from './system/shell-signs.ts';
export { compileProtected, plainGlobs } from './jail/protected-globs.ts';
export { Workspace } from './workspace.ts';
export { splitWords, WordsError } from './system/shell-words.ts';
export { takeTurn } from './system/take-turn.ts';
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
} from './text/text-lines.ts';
export { commitLayer, planWhole, settleCommit, type WholePlan } from './layers/commit/commit-layer.ts';
export type { Conflict } from './layers/commit/conflicts.ts';
export type { OnConflict as OnLayerConflict } from './layers/commit/plan-commit.ts';
export { jailsOf, inspectLayer, UntouchedPath, type LayerScope } from './layers/diff/inspect-layer.ts';
export { layerVersion } from './layers/diff/layer-version.ts';
export { reportOf } from './layers/diff/report.ts';
export type { GitRepository } from './layers/git/git-repository.ts';
export { stateDirOf } from './journal/shared-journal.ts';
export { TooManyFiles } from './layers/diff/touched-paths.ts';
