/** What the main thread and an index thread say to each other. */
import type { Findings } from '../findings.ts';
import type { PathRange } from './index-range.ts';
import type { SearchOrder, Workspace } from '../scan/scan-messages.ts';

/** What the main thread starts an index thread with. */
export interface IndexData extends IndexOptions {
  /** Which files are its own. */
  readonly range: PathRange;
  /** In how many parts the tree is kept, each by a thread. */
  readonly partCount: number;
  /** Bytes of text that all of them keep together. */
  readonly keptBytes: Int32Array;
  /** How many searches read the files just now; loading lets them go first. */
  readonly readers: Int32Array;
}

export interface IndexOptions {
  readonly workspace: Workspace;
  readonly budgetBytes: number;
  readonly maxFileBytes: number;
}

export interface IndexOrder extends SearchOrder {
  /** Becomes non-zero when nobody wants the results any more. */
  readonly stop: Int32Array;
}

export type ToIndex =
  | { kind: 'search'; order: IndexOrder }
  /** Files of another part that have several names, some of them perhaps here. */
  | { kind: 'linked'; inodes: readonly number[] };

export type FromIndex =
  /** So many files are in it by now, for which it worked so long. */
  | { kind: 'loading'; files: number; ms: number }
  | { kind: 'ready' }
  /** These files have several names, some of them perhaps in other parts. Comes before the answer of the search that saw it. */
  | { kind: 'linked'; inodes: readonly number[] }
  /** It can serve no further search; the reason is for whoever debugs it. */
  | { kind: 'given-up'; reason: string }
  /** Without an answer, reading the files is better. */
  | { kind: 'answer'; findings?: Findings }
  | { kind: 'bad-regex'; pattern: string; reason: string };
