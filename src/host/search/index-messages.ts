/** What the main thread and the index thread say to each other. */
import type { Findings } from './findings.ts';
import type { SearchOrder, Workspace } from './scan-messages.ts';

/** What the main thread starts the index thread with. */
export interface IndexData extends IndexOptions {
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

export type FromIndex =
  /** So many files are in it by now, for which it worked so long. */
  | { kind: 'loading'; files: number; ms: number }
  | { kind: 'ready' }
  /** It can serve no further search; the reason is for whoever debugs it. */
  | { kind: 'given-up'; reason: string }
  /** Without an answer, reading the files is better. */
  | { kind: 'answer'; id: number; findings?: Findings }
  | { kind: 'bad-regex'; id: number; pattern: string; reason: string };
