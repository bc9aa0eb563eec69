/**
 * Copies a file to another device for a move: to a temporary file beside the destination, then renamed.
 *
 * Throws if the source changed during the copy, so that the caller does not remove a file that was not copied.
 */
import { lstatSync } from 'node:fs';

import { PendingFile } from './atomic-write.ts';
import { accessOf } from './file-access.ts';
import { HostError } from '../host-error.ts';
import type { JailEntry } from '../jail/jail-entry.ts';
import { changedMeanwhile } from '../jail/pin.ts';
import { piecesOf } from '../text/read-pieces.ts';

/** True if a rename failed because the two paths are on different devices (EXDEV). */
export function isOtherDevice(error: unknown): boolean {
  return error instanceof HostError && (error.cause as NodeJS.ErrnoException | undefined)?.code === 'EXDEV';
}

/** Copies the file; the caller removes the source. */
export async function copyAcross(
  source: JailEntry,
  place: JailEntry,
  { isSynced, signal }: { isSynced: boolean; signal: AbortSignal },
): Promise<void> {
  using file = source.open();
  using pending = await PendingFile.at(place);
  for await (const piece of piecesOf(file, source.path)) {
    await pending.append(piece);
    signal.throwIfAborted();
  }
  const { ino, size, mtimeMs } = source.act((at) => lstatSync(at));
  const { stat } = file;
  if (ino !== stat.ino || size !== stat.size || mtimeMs !== stat.mtimeMs) {
    throw HostError.fromErrno(changedMeanwhile('ESTALE'), source.path);
  }
  await pending.commit({ access: accessOf(file.fd, stat.mode, source.path), isSynced, like: stat });
}
