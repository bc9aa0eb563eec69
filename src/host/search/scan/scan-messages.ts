/** Messages between the main process and the search processes. */
import type { ByteString } from '../../text/byte-string.ts';
import type { JailMode, JailOpening } from '../../jail/jail.ts';
import type { View } from '../../layers/layer.ts';
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
  /** The mount through which the root is used. */
  readonly view?: Pick<View, 'fd' | 'mountId'> | undefined;
}

/** All that a process needs to know of a search. */
export interface SearchOrder {
  readonly id: number;
  readonly query: Query;
  /** Canonical path of the directory from the root. */
  readonly start: ByteString;
  readonly globs: PathGlobs;
  readonly respectsGitignore: boolean;
  /** Whether subdirectories are searched too. */
  readonly isRecursive: boolean;
}

/** To be searched until about `maxWork` files are done. */
export interface ScanTask {
  readonly kind: 'task';
  readonly searchId: number;
  readonly taskId: number;
  readonly parts: readonly WalkPart[];
  readonly maxWork: number;
}

export type ToScan =
  /** `isAhead`: opened before there is a search. */
  | { kind: 'open'; workspace: Workspace; isAhead: boolean }
  | { kind: 'begin'; order: SearchOrder }
  | ScanTask
  /** Tasks of the search that were not begun are dropped. */
  | { kind: 'end'; searchId: number };

export type FromScan =
  /** The process can take tasks now. Starting takes as long as searching some thousand files. */
  { kind: 'ready' } | FromSearch;

export type FromSearch =
  /** `rest` is the unfinished part of the task. */
  | { kind: 'result'; searchId: number; taskId: number; findings: Findings; rest: WalkPart[] }
  | { kind: 'bad-regex'; searchId: number; pattern: string; reason: string }
  | { kind: 'broken'; searchId: number; stack: string }
  /** The reply to `end`, which proves that a process is not stuck. */
  | { kind: 'ended'; searchId: number };
