/**
 * Stats by system call, without the objects of `node:fs`: those took a third of the time that the journal adds to an edit.
 */
import { fstatSync, lstatSync, type Stats } from 'node:fs';

import { entryStatOf, type FileStat } from '../walk/entry-kind.ts';
import { systemCalls } from './system-calls.ts';

export function fstatOf(fd: number): FileStat {
  return systemCalls()?.fstat(fd) ?? fileStatOf(fstatSync(fd));
}

/** Does not follow a symlink. Throws an errno error if nothing is there. */
export function lstatOf(path: string): FileStat {
  return systemCalls()?.lstat(path) ?? fileStatOf(lstatSync(path));
}

function fileStatOf(stat: Stats): FileStat {
  const { nlink, uid, gid } = stat;
  return { ...entryStatOf(stat), nlink, uid, gid };
}
