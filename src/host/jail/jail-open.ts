/**
 * The fast path to an open file: one openat2 that fails if any part of the path is a symlink.
 *
 * Without a symlink the requested path is the canonical one, so containment and protection are decided from the path
 * alone. It never refuses: if it returns undefined, the caller resolves the path and reports the reason.
 */
import { JailFile, READ_FLAGS } from './jail-file.ts';
import type { Bounds } from './pin.ts';
import type { SystemCalls } from '../system/system-calls.ts';

export interface AskedFile {
  /** The names of the path, from the start of the bounds. */
  parts: readonly string[];
  /** The path as the caller sent it. */
  path: string;
  /** Whether a canonical path is protected or hidden. */
  isClosed: (relativePath: string) => boolean;
}

export type OpenAtOnce = (asked: AskedFile) => JailFile | undefined;

/** Loads the system calls at the first file, so that a process that reads none does not load them. */
export function openAtOnceWithin(bounds: Bounds, callsToUse: () => SystemCalls | undefined): OpenAtOnce {
  return ({ parts, path, isClosed }) => {
    const calls = callsToUse();
    if (!calls) return undefined;

    const found = bounds.linkless(parts);
    if (!found || isClosed(found.relative)) return undefined;

    // Opening a FIFO or a device has side effects, so the kind is checked first. A swap in between is detected after
    // the open.
    if (!calls.isRegularFile(found.absolute)) return undefined;
    const fd = calls.openLinkless(found.absolute, READ_FLAGS);
    return fd === undefined ? undefined : JailFile.ofOpened(fd, { relativePath: found.relative, path });
  };
}
