/** The fields that coder reports of a directory entry, in every function. */
import type { Stats } from 'node:fs';

import { HostError, type ByteString, type JailDir } from '#host';

export const ENTRY_KINDS = ['file', 'dir', 'symlink', 'other'] as const;

export interface EntryInfo {
  kind: (typeof ENTRY_KINDS)[number];
  size: number;
  mtime: number;
}

const KIND_NAMES = { file: 'file', directory: 'dir', symlink: 'symlink', other: 'other' } as const;

/** Undefined when the entry is gone. An entry that cannot be statted, such as a dead mount, has kind `other`. */
export function entryInfo(dir: JailDir, name: ByteString): EntryInfo | undefined {
  try {
    const look = dir.lstat(name);
    return look && { kind: KIND_NAMES[look.kind], size: look.size, mtime: mtimeSecs(look) };
  } catch (error) {
    if (error instanceof HostError) return { kind: 'other', size: 0, mtime: 0 };
    throw error;
  }
}

/** mtime as the contract has it: whole seconds, never negative. */
export function mtimeSecs(stat: Pick<Stats, 'mtimeMs'>): number {
  return Math.max(0, Math.floor(stat.mtimeMs / 1000));
}
