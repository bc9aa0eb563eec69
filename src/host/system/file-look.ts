/**
 * Stats of the files that a write makes, by a system call without the objects that `node:fs` makes around it: of what the
 * journal adds to an edit these objects were a third.
 */
import { fstatSync, lstatSync, type Stats } from 'node:fs';

import { lookOf, type FileLook } from '../walk/entry-kind.ts';
import { systemCalls } from './system-calls.ts';

export function lookAtHeld(fd: number): FileLook {
  return systemCalls()?.lookAtHeld(fd) ?? fileLookOf(fstatSync(fd));
}

/** Does not follow a symlink. Throws an errno error if nothing is there. */
export function lookAtPath(path: string): FileLook {
  return systemCalls()?.lookAtPath(path) ?? fileLookOf(lstatSync(path));
}

function fileLookOf(stat: Stats): FileLook {
  const { nlink, uid, gid } = stat;
  return { ...lookOf(stat), nlink, uid, gid };
}
