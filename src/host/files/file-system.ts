/**
 * File operations as plain data, wherever the files are: on this host or in a guest.
 *
 * Failures are `HostError`, and `RegexError`, `ReplacementError` or `GlobError` for a bad pattern. Paths are absolute.
 * Operations on content follow a symlink at the end of a path; all others act on the symlink itself. Every
 * implementation has to pass `file-system.contract.ts`.
 */
import type { NoteChange } from '../changes/note-change.ts';
import type { Origin } from '../journal/records.ts';
import type { SkipReason } from '../walk/walk.ts';

export interface FileSystem {
  /** The entries of a directory, sorted by the bytes of their names. */
  ls(path: string, scope: FileScope): Promise<Listing>;
  stat(path: string, scope: FileScope): Promise<FileInfo>;
  /** Opens a file; the caller closes it. */
  read(path: string, scope: FileScope): Promise<OpenFile>;
  /** Replaces the content of a file, all of it or nothing; returns the number of bytes. */
  write(path: string, bytes: AsyncIterable<Uint8Array>, options: WriteFile, scope: FileScope): Promise<number>;
  /** Returns whether the directory was created. */
  mkdir(path: string, options: MakeDirectory, scope: FileScope): Promise<boolean>;
  rm(path: string, options: { recursive: boolean }, scope: FileScope): Promise<void>;
  /** Returns how many entries were changed. */
  chmod(path: string, options: ChangeMode, scope: FileScope): Promise<number>;
  mv(from: string, to: string, options: { overwrite: boolean }, scope: FileScope): Promise<void>;
  grep(request: GrepRequest, scope: FileScope): Promise<GrepAnswer>;
  sed(request: SedRequest, scope: FileScope): Promise<SedResult[]>;
}

export interface FileScope extends Origin {
  readonly signal: AbortSignal;
  /** Receives notes for the caller about a change that was made. */
  readonly addNote?: (note: string) => void;
  /** Receives the report of each change, if the call wants one. */
  readonly noteChange?: NoteChange | undefined;
}

export interface FileInfo {
  name: string;
  kind: 'file' | 'directory' | 'symlink' | 'other';
  sizeBytes: number;
  /** Permission bits, including setuid, setgid and sticky. */
  mode: number;
  mtimeSecs: number;
}

export interface Listing {
  entries: FileInfo[];
  /** Whether the directory holds more entries than a list may. */
  isTruncated: boolean;
}

export interface OpenFile extends Pick<FileInfo, 'sizeBytes' | 'mode' | 'mtimeSecs'> {
  /** Iterate once. Throws if the file turns out to be shorter than `sizeBytes`. */
  readonly bytes: AsyncIterable<Uint8Array>;
  close(): void;
}

export interface WriteFile {
  /** Defaults to the mode of the file before, or 0644. */
  mode?: number;
  /** Create missing parent directories. */
  parents: boolean;
}

export interface MakeDirectory {
  mode: number;
  /** Create missing parent directories, and accept a directory that exists. */
  parents: boolean;
}

export interface ChangeMode {
  mode: number;
  uid?: number;
  gid?: number;
  recursive: boolean;
}

/** Selects files below a directory; a file that is named itself is always selected. */
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
  /** Longest part of a line that is returned. */
  maxLineBytes: number;
  /** Skip files that .gitignore files name; only on the host. */
  respectGitignore?: boolean;
}

export interface GrepAnswer {
  matches: { path: string; line: number; text: string }[];
  /** Whether there were more matches than returned. */
  isTruncated: boolean;
  /** Files that could not be read; the first of them. */
  skipped: { path: string; reason: SkipReason }[];
  filesTooLarge: number;
}

export interface SedRequest {
  /** Files, or a directory. */
  where: { files: readonly string[] } | ({ path: string } & Below);
  pattern: string;
  replacement: string;
  /** Read the pattern as a regex, and references to its groups in the replacement. */
  isRegex: boolean;
  /** Replace only the first match of each line. */
  firstOnly: boolean;
  ignoreCase: boolean;
}

export interface SedResult {
  path: string;
  replacements: number;
  /** Why the file was not changed. */
  problem?: string;
  /** A note for the caller about the change. */
  note?: string;
}
