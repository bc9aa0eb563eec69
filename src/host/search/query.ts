/**
 * What is searched for and what was found, as plain data that crosses threads.
 */
import type { HeldJson } from '#protocol';
import type { SkipReason } from '../walk/walk.ts';

export interface Query {
  readonly pattern: string;
  readonly isRegex: boolean;
  readonly ignoreCase: boolean;
  readonly wantsContent: boolean;
  readonly wantsPaths: boolean;
  /** Of each list. */
  readonly maxMatches: number;
  /** Of each line that is shown. */
  readonly maxLineBytes: number;
  /** Lines shown before and after each that matches. */
  readonly contextLines: number;
  /** Whether matching lines may come as JSON, where they are at hand as that. */
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
  /** All content matches, instead of the list, when the query allowed it. */
  contentJson?: HeldJson<ContentMatch[]>;
  pathMatches: string[];
  /** Whether there was a match that is not in its list. */
  isTruncated: boolean;
  filesSearched: number;
  filesBinary: number;
  filesTooLarge: number;
  /** What could not be read; the first of them. */
  skipped: Skipped[];
}

/** How far a search got that was not done in time. */
export interface Progress {
  files: number;
  matches: number;
}

/** No line or file name is longer than this without someone meaning harm. */
export const MAX_PATTERN_BYTES = 65_536;
