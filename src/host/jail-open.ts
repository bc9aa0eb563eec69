/**
 * The short way to an open file: the kernel is asked for a path on which no link may stand, and opens it at once.
 *
 * Without a link the path that was asked for is the canonical one, so what it says of inside, outside and protected
 * is true of what is opened. It never refuses: where it does not open, the long way says what is there and why not.
 */
import { closeSync, fstatSync } from 'node:fs';

import { toBytes, toText } from './byte-string.ts';
import { JailFile, READ_FLAGS } from './jail-file.ts';
import { closingOnFailure, type Bounds } from './pin.ts';
import { systemCalls } from './system-calls.ts';

export interface AskedFile {
  /** The names that lead there from where the bounds start. */
  parts: readonly string[];
  /** The path as the caller sent it. */
  path: string;
  isProtected: (relativePath: string) => boolean;
}

export type OpenAtOnce = (asked: AskedFile) => JailFile | undefined;

/** The calls are asked for at the first file: who never reads does not load them. */
export function openAtOnceWithin(bounds: Bounds, callsToUse = systemCalls): OpenAtOnce {
  // Part of every path, and no descriptor that is held: a root that was moved away is not the root any more.
  const start = bounds.start === '/' ? '' : toText(bounds.start);
  return ({ parts, path, isProtected }) => {
    const calls = callsToUse();
    if (!calls) return undefined;

    const bytes = toBytes(`${start}/${parts.join('/')}`);
    const relativePath = bounds.relative(bytes);
    if (relativePath === undefined || isProtected(relativePath)) return undefined;

    const absolute = toText(bytes);
    // A FIFO or a device feels being opened. Only one that takes the place of a file in this moment is not noticed.
    if (!calls.isRegularFile(absolute)) return undefined;
    const fd = calls.openLinkless(absolute, READ_FLAGS);
    if (fd === undefined) return undefined;

    const stat = closingOnFailure(fd, () => fstatSync(fd));
    if (stat.isFile()) return new JailFile(fd, { relativePath, stat }, path);
    closeSync(fd);
    return undefined;
  };
}
