/**
 * Directories of a walk, listed and opened by system calls that Node lacks.
 *
 * They use the descriptor of the directory, without /proc and without opening the directory again to list it. After a
 * failure the ordinary implementation retries, which is as safe and reports the reason.
 */
import { closeSync, constants, readdirSync } from 'node:fs';

import { toBytes, toText, type ByteString } from '../text/byte-string.ts';
import type { JailMode, JailOpening } from '../jail/jail.ts';
import { changedMeanwhile } from '../jail/pin.ts';
import { systemCalls, type SystemCalls } from '../system/system-calls.ts';
import type { View } from '../layers/layer.ts';
import { DescriptorDir, FILE_FLAGS, isOpenedAt, joinPath, type OpenWalkDir, type WalkDir } from './walk-dir.ts';

// Unlike one that is only kept open as a reference, a directory must be readable to be opened for listing.
export const LIST_FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

interface WalkStart {
  readonly root: ByteString;
  readonly mode: JailMode;
  readonly opening: JailOpening;
  readonly view?: Pick<View, 'fd' | 'mountId'> | undefined;
}

/** Opens directories by their canonical path from the root; falls back to `otherwise`. */
export function calledDirsBelow({ root, mode, opening, view }: WalkStart, otherwise: OpenWalkDir): OpenWalkDir {
  if (mode === 'portable' || opening === 'after-finding') return otherwise;

  const prefix = root === '/' ? '' : root;
  return (path) => {
    const calls = systemCalls();
    const absolute = (path === '' ? root : `${prefix}/${path}`) as ByteString;
    const fd = view ? openInView(calls, view, path, absolute) : openLinkless(calls, absolute);
    return fd === undefined ? otherwise(path) : new CalledDir(path, fd, calls!);
  };
}

function openLinkless(calls: SystemCalls | undefined, absolute: ByteString): number | undefined {
  const text = toText(absolute);
  return toBytes(text) === absolute ? calls?.openLinkless(text, LIST_FLAGS) : undefined;
}

/** Symlinks in the path are detected afterwards. */
function openInView(
  calls: SystemCalls | undefined,
  view: NonNullable<WalkStart['view']>,
  path: ByteString,
  absolute: ByteString,
): number | undefined {
  const fd = calls?.openAt(view.fd, path || ('.' as ByteString), LIST_FLAGS);
  if (fd === undefined || isOpenedAt(absolute, fd, view)) return fd;
  closeSync(fd);
  return undefined;
}

class CalledDir extends DescriptorDir {
  readonly #calls: SystemCalls;

  constructor(path: ByteString, fd: number, calls: SystemCalls) {
    super(path, fd);
    this.#calls = calls;
  }

  readEntries(into: Uint8Array): number {
    return this.#calls.readEntries(this.fd, into) ?? this.#endOfRemoved();
  }

  override openFile(name: ByteString): number {
    return this.#calls.openAt(this.fd, name, FILE_FLAGS) ?? super.openFile(name);
  }

  override read(fd: number, into: Buffer): number {
    return this.#calls.read(fd, into) ?? super.read(fd, into);
  }

  override openDir(name: ByteString): WalkDir {
    const fd = this.#calls.openAt(this.fd, name, LIST_FLAGS);
    return fd === undefined ? super.openDir(name) : new CalledDir(joinPath(this.path, name), fd, this.#calls);
  }

  /**
   * Ends the listing of a directory that was removed while it was open; any other error shows when it is listed again.
   */
  #endOfRemoved(): number {
    if (readdirSync(this.descriptorPath).length > 0) throw changedMeanwhile('ESTALE');
    return 0;
  }
}
