/** What the main thread and the index thread say to each other. */
import type { ByteString } from '../byte-string.ts';
import type { PathGlobs } from './path-filter.ts';
import type { Query, SearchAnswer } from './query.ts';
import type { Workspace } from './thread-messages.ts';

export interface IndexOptions {
  readonly workspace: Workspace;
  readonly budgetBytes: number;
  readonly maxFileBytes: number;
}

export interface ToIndex {
  readonly id: number;
  readonly query: Query;
  /** Canonical path from the root. */
  readonly path: ByteString;
  readonly globs: PathGlobs;
  /** Non-zero when nobody waits any more. */
  readonly stop: Int32Array;
}

export type FromIndex =
  | { kind: 'ready' }
  /** It can serve no further search; the reason is for whoever debugs it. */
  | { kind: 'given-up'; reason: string }
  /** Without an answer, reading the files is better. */
  | { kind: 'answer'; id: number; answer?: SearchAnswer }
  | { kind: 'bad-regex'; id: number; pattern: string; reason: string };
