/**
 * A file moved to another device: copied beside its new place, put there whole, and gone from the old one.
 *
 * Where it was, it goes only when it is still what was copied.
 */
import { lstatSync } from 'node:fs';

import { PendingFile } from './atomic-write.ts';
import { accessOf } from './file-access.ts';
import { HostError } from '../host-error.ts';
import type { JailEntry } from '../jail/jail-entry.ts';
import { changedMeanwhile } from '../jail/pin.ts';
import { piecesOf } from '../text/read-pieces.ts';

/** Whether a rename failed because the two names are on different devices. */
export function isOtherDevice(error: unknown): boolean {
  return error instanceof HostError && (error.cause as NodeJS.ErrnoException | undefined)?.code === 'EXDEV';
}

/** Leaves the source for the caller to remove. */
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
