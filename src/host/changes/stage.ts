/**
 * Stages a new file or symlink under a temporary name beside its path, to be renamed later.
 *
 * Unlike `PendingFile` it keeps no descriptor open, so that thousands can be staged; the caller resolves the entry again
 * before the rename.
 */
import { linkSync, lstatSync, renameSync, symlinkSync, unlinkSync, type Stats } from 'node:fs';

import { codeOf, isUnlinkable, type ImageStore } from '../journal/store.ts';
import type { FileState } from '../journal/records.ts';
import type { JailEntry } from '../jail/jail-entry.ts';
import { changedMeanwhile } from '../jail/pin.ts';
import { tempName } from './atomic-write-temp.ts';
import { PendingFile, putNew, replace, type WriteOptions } from './atomic-write.ts';
import type { ByteString } from '../text/byte-string.ts';

export interface Staged {
  /** Temporary name in the directory of the entry. */
  readonly name: ByteString;
  readonly stat: Stats;
}

export async function stageBytes(entry: JailEntry, bytes: Uint8Array, options: WriteOptions): Promise<Staged> {
  using pending = await PendingFile.at(entry);
  await pending.append(bytes);
  return await pending.seal(options);
}

/** Stages a before-image of the journal: a hard link to it, or a copy with its mode, owner and times. */
export async function stageImage(entry: JailEntry, store: ImageStore, state: FileState): Promise<Staged> {
  const image = store.pathOf('images', state.image!);
  const name = tempName();
  try {
    const stat = entry.act((temp) => (linkSync(image, temp), lstatSync(temp)), name);
    if (stat.isFile()) return { name, stat };
    entry.act(unlinkSync, name);
    throw changedMeanwhile('ESTALE');
  } catch (error) {
    if (!isUnlinkable(error)) throw error;
  }
  using pending = await PendingFile.at(entry);
  await pending.append(store.read(state.image!));
  const { mode, uid, gid, mtimeMs } = state;
  return await pending.seal({ mode, isSynced: false, like: { uid, gid, atimeMs: mtimeMs, mtimeMs } });
}

export function stageLink(entry: JailEntry, to: string): Staged {
  const name = tempName();
  const stat = entry.act((temp) => (symlinkSync(Buffer.from(to, 'latin1'), temp), lstatSync(temp)), name);
  return { name, stat };
}

/**
 * Renames the staged file to its path; throws if the path has changed since the entry was resolved. `isKept` says that
 * the journal has a link to the replaced file.
 */
export function putStaged(entry: JailEntry, { name }: Pick<Staged, 'name'>, { isKept = false } = {}): void {
  const { stat } = entry;
  entry.act((at) => entry.act((temp) => (stat ? replace(temp, at, entry, { isKept }) : putNew(temp, at)), name));
}

/** Links the file or symlink at the path to a temporary name beside it; undefined where that is not possible. */
export function linkAside(entry: JailEntry): ByteString | undefined {
  const name = tempName();
  try {
    entry.act((at) => entry.act((temp) => linkSync(at, temp), name));
    return name;
  } catch (error) {
    if (isUnlinkable(error)) return undefined;
    throw error;
  }
}

/** Renames the entry that was put aside to its path again, which takes no space on the disk. */
export function putBack(entry: JailEntry, aside: Buffer): void {
  entry.act((at) => {
    if (entry.stat) return replace(aside, at, entry);
    try {
      putNew(aside, at);
    } catch (error) {
      if (codeOf(error) !== 'ENOSPC') throw error;
      renameSync(aside, at);
    }
  });
}

/** Removes a staged file, if it still exists. */
export function dropStaged(entry: JailEntry, { name }: Pick<Staged, 'name'>): void {
  try {
    entry.act(unlinkSync, name);
  } catch {
    // A later sweep removes it.
  }
}
