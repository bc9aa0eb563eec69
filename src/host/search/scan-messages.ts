/** What the main thread and the search threads say to each other. */
import type { ByteString } from '../byte-string.ts';
import type { JailMode } from '../jail.ts';
import type { WalkPart } from '../walk-part.ts';
import type { Findings } from './findings.ts';
import type { PathGlobs } from './path-filter.ts';
import type { Query } from './query.ts';

/** The directory tree that is searched. */
export interface Workspace {
  /** The canonical path. */
  readonly root: ByteString;
  readonly mode: JailMode;
}

/** All that a thread must know of a search. */
export interface SearchOrder {
  readonly id: number;
  readonly query: Query;
  /** Canonical path of the directory from the root. */
  readonly start: ByteString;
  readonly globs: PathGlobs;
  readonly respectsGitignore: boolean;
  /** Whether directories below are searched too. */
  readonly isRecursive: boolean;
  /** Becomes non-zero when nobody wants the results any more. */
  readonly stop: Int32Array;
}

export type ToThread =
  | { kind: 'begin'; order: SearchOrder }
  /** To be searched until about so many files are done. */
  | { kind: 'task'; searchId: number; taskId: number; parts: readonly WalkPart[]; maxWork: number }
  | { kind: 'end'; searchId: number };

export type FromThread =
  /** It can take tasks now. Starting takes as long as searching a thousand files. */
  { kind: 'ready' } | FromSearch;

export type FromSearch =
  /** `rest` is what of the task is still to be done. */
  | { kind: 'result'; searchId: number; taskId: number; findings: Findings; rest: WalkPart[] }
  | { kind: 'bad-regex'; searchId: number; pattern: string; reason: string }
  | { kind: 'broken'; searchId: number; stack: string }
  /** The answer to `end`, by which a thread shows that it is not stuck. */
  | { kind: 'ended'; searchId: number };
