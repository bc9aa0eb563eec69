/**
 * A piece of a walk, and what a query found in it: the unit that goes to another thread.
 */
import type { ByteString } from '../byte-string.ts';
import type { SkipReason } from '../walk.ts';
import type { LineFound } from './query.ts';

/** Files of one directory, or something that the walk could not read. */
export interface Run {
  readonly dir: ByteString;
  readonly names: readonly ByteString[];
  readonly skipped?: { readonly path: ByteString; readonly reason: SkipReason };
}

/** What became of a file. */
export const OUTCOME = { pathOnly: 0, searched: 1, binary: 2, tooLarge: 3, unreadable: 4, gone: 5 } as const;

export interface FileFound {
  /** Counted through the runs of the batch. */
  readonly index: number;
  readonly isPathMatch: boolean;
  /** One more than may be told, if there are that many. */
  readonly lines: LineFound[];
  /** Why it could not be read. */
  readonly unreadable?: SkipReason;
}

export interface BatchResult {
  /** Of each file in order. Shorter than the batch when what was found already fills the answer. */
  readonly outcomes: Uint8Array;
  /** In order; files of which there is nothing to tell are not there. */
  readonly found: FileFound[];
}

// Names hold neither a NUL nor a slash, so both can separate.
const BETWEEN_NAMES = '\0';
const BETWEEN_RUNS = '\0/\0';

/** Runs as one string: a thread gets that a hundred times faster than as many strings. */
export function packRuns(runs: readonly Run[]): string {
  return runs.map(({ dir, names }) => [dir, ...names].join(BETWEEN_NAMES)).join(BETWEEN_RUNS);
}

/** What could not be read is not unpacked: only files are searched. */
export function unpackRuns(packed: string): Run[] {
  return packed.split(BETWEEN_RUNS).map((run) => {
    const [dir, ...names] = run.split(BETWEEN_NAMES) as ByteString[];
    return { dir: dir!, names };
  });
}
