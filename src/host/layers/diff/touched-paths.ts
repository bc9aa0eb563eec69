/** The paths that a change touched, as the walk of its upper directory finds them. */
import type { BigIntStats } from 'node:fs';

import type { Jail } from '../../jail/jail.ts';

/** The directories of a change, each behind a jail of its own: a command in the change may swap paths while they are read. */
export interface LayerJails {
  /** The live workspace. */
  readonly live: Jail;
  /** Files that the change wrote. */
  readonly upper: Jail;
  /** Files as they were before others changed them. */
  readonly pins: Jail;
  /** The merged directory, as commands in the change see it. */
  readonly view: Jail;
}

export type LayerName = keyof LayerJails;

export type EntryType = 'file' | 'link' | 'directory' | 'special';

/** A file, symlink or directory in one of the directories. */
export interface LayerEntry {
  readonly type: EntryType;
  readonly in: LayerName;
  readonly stat: BigIntStats;
}

/** A path with its three states; undefined where nothing is there. */
export interface TouchedPath {
  readonly path: string;
  /** In the change. */
  readonly mine: LayerEntry | undefined;
  /** When the change began, as far as it is known: the pin, else the live entry. */
  readonly base: LayerEntry | undefined;
  /** In the workspace now. */
  readonly theirs: LayerEntry | undefined;
  /** True if `base` is a pin, and exact: another call changed the path in the workspace. */
  readonly isPinned: boolean;
  /** True if the change moved it, unread: its content is that of a file of the workspace with the same inode. */
  readonly isMoved?: boolean;
}

/** A new directory with many files, reported as one row. */
export interface NewTree {
  readonly path: string;
  readonly files: number;
  readonly bytes: number;
  /** True if a rename moves it as a whole: nothing in it is left out. */
  readonly isWhole: boolean;
  /** Everything in it, directories before their contents. */
  readonly entries: readonly TouchedPath[];
}

export type LeftOutWhy = 'protected' | 'special' | 'git' | 'name';

/** A touched path that neither diff nor commit includes. */
export interface LeftOut {
  readonly path: string;
  readonly why: LeftOutWhy;
}

export interface LayerWalk {
  readonly touched: readonly TouchedPath[];
  readonly trees: readonly NewTree[];
  readonly leftOut: readonly LeftOut[];
  /** Directories that exist in the base and not in the change, the outermost first. */
  readonly goneDirectories: readonly string[];
  /** Paths of `.git` directories that the change touched. */
  readonly gitDirectories: readonly string[];
}

export class TooManyFiles extends Error {
  override readonly name = 'TooManyFiles';
  readonly limit: number;

  constructor(limit: number) {
    super(`the change touches more than ${limit} files`);
    this.limit = limit;
  }
}
