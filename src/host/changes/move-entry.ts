/** Renames an entry; a file that goes to another device is copied, to a temporary file beside the destination. */
import { lstatSync, renameSync, unlinkSync } from 'node:fs';

import { PendingFile } from './atomic-write.ts';
import { accessOf } from './file-access.ts';
import { HostError } from '../host-error.ts';
import type { JailEntry } from '../jail/jail-entry.ts';
import { changedMeanwhile } from '../jail/pin.ts';
import { piecesOf } from '../text/read-pieces.ts';
import type { NoteChange } from './note-change.ts';

interface MoveOptions {
  readonly isSynced: boolean;
  readonly signal: AbortSignal;
  readonly notePart?: NoteChange | undefined;
}

export async function moveEntry(
  source: JailEntry,
  target: JailEntry,
  { notePart, ...options }: MoveOptions,
): Promise<void> {
  try {
    source.act((old) => target.act((now) => renameSync(old, now)));
  } catch (error) {
    if (!isOtherDevice(error) || !source.stat!.isFile()) throw error;
    await copyAcross(source, target, options);
    notePart?.({ path: target.path, kind: target.stat ? 'modified' : 'created' });
    source.act(unlinkSync);
  }
}

/** True if a rename failed because the two paths are on different devices (EXDEV). */
function isOtherDevice(error: unknown): boolean {
  return error instanceof HostError && (error.cause as NodeJS.ErrnoException | undefined)?.code === 'EXDEV';
}

/** Throws if the source changed during the copy, so that a file which was not copied is not removed. */
async function copyAcross(source: JailEntry, target: JailEntry, { isSynced, signal }: MoveOptions): Promise<void> {
  using file = source.open();
  using pending = await PendingFile.at(target);
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
