/** Stat fields of a directory entry, symlinks not followed. */
import { constants, type Dirent, type Stats } from 'node:fs';

export type EntryKind = 'file' | 'directory' | 'symlink' | 'other';

export interface EntryStat {
  kind: EntryKind;
  size: number;
  /** Including the file type bits. */
  mode: number;
  mtimeMs: number;
  ino: number;
}

/** Stat of a written file: also its links, owner and group. */
export interface FileStat extends EntryStat {
  nlink: number;
  uid: number;
  gid: number;
}

export function entryStatOf(stat: Stats): EntryStat {
  return { kind: kindOf(stat), size: stat.size, mode: stat.mode, mtimeMs: stat.mtimeMs, ino: stat.ino };
}

export function kindOf(stat: Stats | Dirent): EntryKind {
  if (stat.isFile()) return 'file';
  if (stat.isDirectory()) return 'directory';
  return stat.isSymbolicLink() ? 'symlink' : 'other';
}

export function kindOfMode(mode: number): EntryKind {
  switch (mode & constants.S_IFMT) {
    case constants.S_IFREG:
      return 'file';
    case constants.S_IFDIR:
      return 'directory';
    case constants.S_IFLNK:
      return 'symlink';
    default:
      return 'other';
  }
}
