/** A search query and its answer, as plain data that crosses threads. */
import type { EncodedJson } from '#protocol';
import type { SkipReason } from '../walk/walk.ts';

export interface Query {
  readonly pattern: string;
  readonly isRegex: boolean;
  readonly ignoreCase: boolean;
  readonly wantsContent: boolean;
  readonly wantsPaths: boolean;
  /** Per list. */
  readonly maxMatches: number;
  /** Per returned line. */
  readonly maxLineBytes: number;
  /** Lines returned before and after each match. */
  readonly contextLines: number;
  /** Whether matching lines may be returned as JSON, if they exist as such. */
  readonly mayBeJson?: boolean;
  /** Larger files are not searched for content. */
  readonly maxFileBytes: number;
}

/** A line that matches. */
export interface LineFound {
  /** From 1. */
  line: number;
  /** From 1, in bytes of UTF-8; when case is ignored, of the line in lower case. */
  column: number;
  text: string;
  before?: string[];
  after?: string[];
}

export interface ContentMatch extends LineFound {
  path: string;
}

export interface Skipped {
  path: string;
  reason: SkipReason;
}

export interface SearchAnswer {
  contentMatches: ContentMatch[];
  /** All content matches, instead of the list, if the query allowed it. */
  contentJson?: EncodedJson<ContentMatch[]>;
  pathMatches: string[];
  /** Whether there was a match beyond the list. */
  isTruncated: boolean;
  filesSearched: number;
  filesBinary: number;
  filesTooLarge: number;
  /** Files that could not be read; the first of them. */
  skipped: Skipped[];
}

/** Progress of a search that timed out. */
export interface Progress {
  files: number;
  matches: number;
}

/** Longest accepted pattern. */
export const MAX_PATTERN_BYTES = 65_536;
