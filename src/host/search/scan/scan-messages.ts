/** What the main process and the search processes say to each other. */
import type { ByteString } from '../../text/byte-string.ts';
import type { JailMode, JailOpening } from '../../jail/jail.ts';
import type { WalkPart } from '../../walk/walk-part.ts';
import type { Findings } from '../findings.ts';
import type { PathGlobs } from '../match/path-filter.ts';
import type { Query } from '../query.ts';

/** The directory tree that is searched. */
export interface Workspace {
  /** The canonical path. */
  readonly root: ByteString;
  readonly mode: JailMode;
  readonly opening: JailOpening;
}

/** All that another must know of a search. */
export interface SearchOrder {
  readonly id: number;
  readonly query: Query;
  /** Canonical path of the directory from the root. */
  readonly start: ByteString;
  readonly globs: PathGlobs;
  readonly respectsGitignore: boolean;
  /** Whether directories below are searched too. */
  readonly isRecursive: boolean;
}

/** To be searched until about so many files are done. */
export interface ScanTask {
  readonly kind: 'task';
  readonly searchId: number;
  readonly taskId: number;
  readonly parts: readonly WalkPart[];
  readonly maxWork: number;
}

export type ToScan =
  /** `isAhead`: there is no search yet. */
  | { kind: 'open'; workspace: Workspace; isAhead: boolean }
  | { kind: 'begin'; order: SearchOrder }
  | ScanTask
  /** Its tasks that were not begun need not be. */
  | { kind: 'end'; searchId: number };

export type FromScan =
  /** It can take tasks now. Starting takes as long as searching some thousand files. */
  { kind: 'ready' } | FromSearch;

export type FromSearch =
  /** `rest` is what of the task is still to be done. */
  | { kind: 'result'; searchId: number; taskId: number; findings: Findings; rest: WalkPart[] }
  | { kind: 'bad-regex'; searchId: number; pattern: string; reason: string }
  | { kind: 'broken'; searchId: number; stack: string }
  /** The answer to `end`, by which a process shows that it is not stuck. */
  | { kind: 'ended'; searchId: number };
