/** What the main thread and the search threads say to each other. */
import type { ByteString } from '../byte-string.ts';
import type { JailMode } from '../jail.ts';
import type { BatchResult } from './batch.ts';
import type { Query } from './query.ts';

/** The directory tree that is searched. */
export interface Workspace {
  /** The canonical path. */
  readonly root: ByteString;
  readonly mode: JailMode;
}

export type ToThread =
  /** `stop` becomes non-zero when nobody wants the results any more. */
  | { kind: 'begin'; searchId: number; query: Query; stop: Int32Array }
  | { kind: 'batch'; searchId: number; batchId: number; packedRuns: string }
  | { kind: 'end'; searchId: number };

export type FromThread =
  /** It can take batches now. Starting takes as long as searching a thousand files. */
  { kind: 'ready' } | FromSearch;

export type FromSearch =
  | { kind: 'result'; searchId: number; batchId: number; result: BatchResult }
  | { kind: 'bad-regex'; searchId: number; pattern: string; reason: string }
  | { kind: 'broken'; searchId: number; stack: string }
  /** The answer to `end`, by which a thread shows that it is not stuck. */
  | { kind: 'ended'; searchId: number };
