/**
 * What can be done to files, as plain data, wherever they are: on this host, or in a machine that someone talks to.
 *
 * Failures are `HostError`, and `RegexError`, `ReplacementError` or `GlobError` for what was to be looked for. Paths are
 * absolute. The last link of a path is followed by what reads or writes content, and stands for itself otherwise.
 * `file-system.contract.ts` is what every implementation has to pass.
 */
import type { NoteChange } from '../changes/note-change.ts';
import type { SkipReason } from '../walk/walk.ts';

export interface FileSystem {
  /** What is in a directory, in the order of the bytes of the names. */
  ls(path: string, scope: FileScope): Promise<Listing>;
  stat(path: string, scope: FileScope): Promise<FileInfo>;
  /** Opens a file; whoever does closes it. */
  read(path: string, scope: FileScope): Promise<OpenFile>;
  /** Gives a file its content, all of it or nothing, and says how many bytes that were. */
  write(path: string, bytes: AsyncIterable<Uint8Array>, options: WriteFile, scope: FileScope): Promise<number>;
  /** Whether there was none before. */
  mkdir(path: string, options: MakeDirectory, scope: FileScope): Promise<boolean>;
  rm(path: string, options: { recursive: boolean }, scope: FileScope): Promise<void>;
  /** How many entries were changed. */
  chmod(path: string, options: ChangeMode, scope: FileScope): Promise<number>;
  mv(from: string, to: string, options: { overwrite: boolean }, scope: FileScope): Promise<void>;
  grep(request: GrepRequest, scope: FileScope): Promise<GrepAnswer>;
  sed(request: SedRequest, scope: FileScope): Promise<SedResult[]>;
}

export interface FileScope {
  readonly signal: AbortSignal;
  /** Takes what the caller should know of a change that was made. */
  readonly tell?: (note: string) => void;
  /** Takes the report of each change, where the call wants one. */
  readonly noteChange?: NoteChange | undefined;
}

export interface FileInfo {
  name: string;
  kind: 'file' | 'directory' | 'symlink' | 'other';
  sizeBytes: number;
  /** The permission bits with the special ones. */
  mode: number;
  mtimeSecs: number;
}

export interface Listing {
  entries: FileInfo[];
  /** Whether the directory holds more than a list may. */
  isTruncated: boolean;
}

export interface OpenFile extends Pick<FileInfo, 'sizeBytes' | 'mode' | 'mtimeSecs'> {
  /** To be gone through once. Fails when there turns out to be less than `sizeBytes`. */
  readonly bytes: AsyncIterable<Uint8Array>;
  close(): void;
}

export interface WriteFile {
  /** When left out that of the file before, or 0644. */
  mode?: number;
  /** Whether missing directories on the way are made. */
  parents: boolean;
}

export interface MakeDirectory {
  mode: number;
  /** Whether missing directories on the way are made, and a directory that is there is fine. */
  parents: boolean;
}

export interface ChangeMode {
  mode: number;
  uid?: number;
  gid?: number;
  recursive: boolean;
}

/** Which files below a directory are meant; a file that is named itself always is. */
export interface Below {
  recursive: boolean;
  /** Only files that match one of these, relative to the directory; all when empty. */
  includeGlobs: readonly string[];
  excludeGlobs: readonly string[];
}

export interface GrepRequest extends Below {
  /** A file or a directory. */
  path: string;
  pattern: string;
  ignoreCase: boolean;
  maxMatches: number;
  /** What is shown of a line. */
  maxLineBytes: number;
  /** Whether files that .gitignore files name are left out; only on the host. */
  respectGitignore?: boolean;
}

export interface GrepAnswer {
  matches: { path: string; line: number; text: string }[];
  /** Whether there was a match more than are told. */
  isTruncated: boolean;
  /** What could not be read; the first of them. */
  skipped: { path: string; reason: SkipReason }[];
  filesTooLarge: number;
}

export interface SedRequest {
  /** Files, or what is below a directory. */
  where: { files: readonly string[] } | ({ path: string } & Below);
  pattern: string;
  replacement: string;
  /** Whether the pattern is a regex and the replacement refers to its groups. */
  isRegex: boolean;
  /** Whether only the first match of each line is replaced. */
  firstOnly: boolean;
  ignoreCase: boolean;
}

export interface SedResult {
  path: string;
  replacements: number;
  /** Why the file was left as it was. */
  problem?: string;
  /** What the caller should know of the change. */
  note?: string;
}
