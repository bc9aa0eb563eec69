/** Messages between the main thread and an index thread. */
import type { Findings } from '../findings.ts';
import type { PathRange } from './index-range.ts';
import type { SearchOrder, Workspace } from '../scan/scan-messages.ts';

/** Start-up data of an index thread. */
export interface IndexData extends IndexOptions {
  /** The range of paths it owns. */
  readonly range: PathRange;
  /** Number of parts of the tree, each with a thread. */
  readonly partCount: number;
  /** Bytes of text that all parts keep together. */
  readonly keptBytes: Int32Array;
  /** Number of searches that read files right now; loading pauses for them. */
  readonly readers: Int32Array;
}

export interface IndexOptions {
  readonly workspace: Workspace;
  readonly budgetBytes: number;
  readonly maxFileBytes: number;
}

export interface IndexOrder extends SearchOrder {
  /** Becomes non-zero when the caller has cancelled. */
  readonly stop: Int32Array;
}

export type ToIndex =
  | { kind: 'search'; order: IndexOrder }
  /** Files of another part that have several hard links, some of them perhaps here. */
  | { kind: 'linked'; inodes: readonly number[] };

export type FromIndex =
  /** Files loaded so far, and the working time. */
  | { kind: 'loading'; files: number; ms: number }
  | { kind: 'ready' }
  /**
   * These files have several hard links, some of them perhaps in other parts. Sent before the answer of the search that
   * found them.
   */
  | { kind: 'linked'; inodes: readonly number[] }
  /** The part can serve no further search; the reason is for debugging. */
  | { kind: 'unusable'; reason: string }
  /** Without findings: reading the files is better. */
  | { kind: 'answer'; findings?: Findings }
  | { kind: 'bad-regex'; pattern: string; reason: string };
