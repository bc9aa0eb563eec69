/** The fields that are reported of a directory entry. */
import { toText, type ByteString } from '../text/byte-string.ts';
import type { EntryStat } from '../walk/entry-kind.ts';
import type { FileInfo } from './file-system.ts';
import { HostError } from '../host-error.ts';
import type { JailDir } from '../jail/jail-dir.ts';
import { PERMISSION_BITS } from '../changes/permissions.ts';

export function fileInfo(name: string, { kind, size, mode, mtimeMs }: EntryStat): FileInfo {
  return {
    name,
    kind,
    sizeBytes: size,
    mode: mode & PERMISSION_BITS,
    // Whole seconds, and nothing before 1970.
    mtimeSecs: Math.max(0, Math.floor(mtimeMs / 1000)),
  };
}

/** Undefined when the name is gone. An entry that cannot be statted, such as a dead mount, has kind `other`. */
export function listedInfo(dir: JailDir, name: ByteString): FileInfo | undefined {
  try {
    const stat = dir.lstatListed(name);
    return stat && fileInfo(toText(name), stat);
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    return { name: toText(name), kind: 'other', sizeBytes: 0, mode: 0, mtimeSecs: 0 };
  }
}
