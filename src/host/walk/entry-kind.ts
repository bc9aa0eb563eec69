/** Stat fields of a directory entry, symlinks not followed. */
import { constants, type Dirent, type Stats } from 'node:fs';

export type EntryKind = 'file' | 'directory' | 'symlink' | 'other';

export interface EntryLook {
  kind: EntryKind;
  size: number;
  /** Including the file type bits. */
  mode: number;
  mtimeMs: number;
  ino: number;
}

/** Of a file that is written: also its links, owner and group. */
export interface FileLook extends EntryLook {
  nlink: number;
  uid: number;
  gid: number;
}

export function lookOf(stat: Stats): EntryLook {
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
