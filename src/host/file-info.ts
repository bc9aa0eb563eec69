/** What is told of an entry of the file system. */
import type { Stats } from 'node:fs';

import { toText, type ByteString } from './byte-string.ts';
import type { FileInfo } from './file-system.ts';
import { HostError } from './host-error.ts';
import type { JailDir } from './jail-dir.ts';
import { kindOf } from './jail-list.ts';
import { PERMISSION_BITS } from './permissions.ts';

export function fileInfo(name: string, stat: Stats): FileInfo {
  return {
    name,
    kind: kindOf(stat),
    sizeBytes: stat.size,
    mode: stat.mode & PERMISSION_BITS,
    // Whole seconds, and nothing before 1970.
    mtimeSecs: Math.max(0, Math.floor(stat.mtimeMs / 1000)),
  };
}

/** Undefined when the name is gone. One that cannot be looked at, such as a dead mount, is something other. */
export function listedInfo(dir: JailDir, name: ByteString): FileInfo | undefined {
  try {
    const stat = dir.lstat(name);
    return stat && fileInfo(toText(name), stat);
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    return { name: toText(name), kind: 'other', sizeBytes: 0, mode: 0, mtimeSecs: 0 };
  }
}
