/** Requests and results of a write set. */
import type { Stats } from 'node:fs';

import type { Jail } from '../jail/jail.ts';
import type { State } from './records.ts';

/** One change of a write set. Paths are as the jail takes them; a version is the one that reads return. */
export type SetEntry =
  /** Writes a file. Creates missing parent directories, and follows a symlink at the end of the path. */
  | {
      readonly kind: 'write';
      readonly path: string;
      readonly content: Uint8Array;
      /** Required current version, or `NOTHING_THERE`; undefined accepts any. */
      readonly expected?: string;
      readonly seen?: Seen;
      /** Default: the mode of the replaced file, else 0644. */
      readonly mode?: number;
      /** Path of a file whose mode a new file gets. */
      readonly like?: string;
    }
  /** Deletes a file, or a directory with everything in it. */
  | {
      readonly kind: 'delete';
      readonly path: string;
      readonly expected?: string;
      readonly seen?: Seen;
      /** Skips the entry unless it is an empty directory. */
      readonly ifEmpty?: boolean;
    }
  /** Renames `path` to `to` and replaces a file there. With `content`, the file gets that content too. */
  | {
      readonly kind: 'move';
      readonly path: string;
      readonly to: string;
      readonly content?: Uint8Array;
      readonly expected?: string;
    }
  /** Restores a state from the journal. */
  | { readonly kind: 'restore'; readonly path: string; readonly state: State; readonly seen?: Seen }
  /** Renames an already written file or symlink (`made`, on the same device) to `path`. */
  | { readonly kind: 'adopt'; readonly path: string; readonly made: string }
  /** Puts a file, symlink or directory of another jail at `path`. */
  | {
      readonly kind: 'bring';
      readonly path: string;
      readonly from: { readonly jail: Jail; readonly path: string };
      /** `rename` needs the same device, and a free path for a directory. A directory cannot be copied. */
      readonly how: 'rename' | 'copy';
      /** Default: the mode of the replaced file, else that of the source; without set-id bits. */
      readonly mode?: number;
      readonly seen?: Seen;
    }
  | {
      readonly kind: 'mode';
      readonly path: string;
      readonly mode: number;
      readonly uid?: number;
      readonly gid?: number;
    };

/** Identity of the file that the caller stat'ed, or that there was none. */
export type Seen = Pick<Stats, 'ino' | 'size' | 'mtimeMs'> | 'nothing';

/** The version of a path without a file. */
export const NOTHING_THERE = 'absent';

/** A path does not have the expected version. The write set changed nothing. */
export class SetConflict extends Error {
  override readonly name = 'SetConflict';
  readonly path: string;
  readonly expected: string;
  readonly actual: string;

  constructor(path: string, versions: { expected: string; actual: string }) {
    super(`${path} is at version ${versions.actual}; ${versions.expected} is expected`);
    this.path = path;
    this.expected = versions.expected;
    this.actual = versions.actual;
  }
}

export interface SetOutcome {
  /** Number of the journal record; undefined if the journal is switched off. */
  readonly seq?: number;
  /** Changes in the order of the entries, without those that changed nothing. */
  readonly changes: readonly SetChange[];
}

export interface SetChange {
  readonly path: string;
  readonly kind: 'created' | 'modified' | 'deleted' | 'moved' | 'mode';
  readonly from?: string;
  readonly version?: string;
  /** A warning for the caller, such as that undo cannot restore the file. */
  readonly note?: string;
}
