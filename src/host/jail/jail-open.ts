/**
 * The short way to an open file: the kernel is asked for a path on which no link may stand, and opens it at once.
 *
 * Without a link the path that was asked for is the canonical one, so what it says of inside, outside and protected
 * is true of what is opened. It never refuses: where it does not open, the long way says what is there and why not.
 */
import { JailFile, READ_FLAGS } from './jail-file.ts';
import type { Bounds } from './pin.ts';
import type { SystemCalls } from '../system/system-calls.ts';

export interface AskedFile {
  /** The names that lead there from where the bounds start. */
  parts: readonly string[];
  /** The path as the caller sent it. */
  path: string;
  /** Whether a canonical path is refused or hidden. */
  isClosed: (relativePath: string) => boolean;
}

export type OpenAtOnce = (asked: AskedFile) => JailFile | undefined;

/** The calls are asked for at the first file: who never reads does not load them. */
export function openAtOnceWithin(bounds: Bounds, callsToUse: () => SystemCalls | undefined): OpenAtOnce {
  return ({ parts, path, isClosed }) => {
    const calls = callsToUse();
    if (!calls) return undefined;

    const found = bounds.linkless(parts);
    if (!found || isClosed(found.relative)) return undefined;

    // A FIFO or a device feels being opened. Only one that takes the place of a file in this moment is not noticed.
    if (!calls.isRegularFile(found.absolute)) return undefined;
    const fd = calls.openLinkless(found.absolute, READ_FLAGS);
    return fd === undefined ? undefined : JailFile.ofOpened(fd, { relativePath: found.relative, path });
  };
}
