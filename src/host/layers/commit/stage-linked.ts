/**
 * Stages a file of the layer as a hard link: a commit that writes no content again is twice as fast.
 *
 * Only for a layer that ends with the commit, so that no other name of the file is left.
 */
import { fsync, linkSync, lstatSync, lutimesSync, type Stats } from 'node:fs';
import { promisify } from 'node:util';

import { sweepOnce, tempName } from '../../changes/atomic-write-temp.ts';
import { accessOf } from '../../changes/file-access.ts';
import { versionOf } from '../../changes/jail-version.ts';
import type { Staged } from '../../changes/stage.ts';
import type { JailEntry } from '../../jail/jail-entry.ts';
import type { JailFile } from '../../jail/jail-file.ts';
import { changedMeanwhile } from '../../jail/pin.ts';
import { isUnlinkable } from '../../journal/store.ts';

/** Larger files are hashed while they are copied. */
const MAX_BYTES = 2 ** 20;

const syncLater = promisify(fsync);

/** Undefined if it has to be copied: the replaced file has an access list or attributes to keep, or links are refused. */
export async function stageLinked(
  place: JailEntry,
  source: JailEntry,
  { file, isSynced }: { file: JailFile; isSynced: boolean },
): Promise<(Staged & { version: string }) | undefined> {
  if (file.size > MAX_BYTES || !place.stat || !hasModeOnly(place, place.stat)) return undefined;
  const version = versionOf(await file.read());
  await sweepOnce(place);
  const name = tempName();
  try {
    source.act((old) => place.act((temp) => linkSync(old, temp), name));
  } catch (error) {
    if (isUnlinkable(error)) return undefined;
    throw error;
  }
  const stat = place.act((temp) => {
    // The time of the commit, as a copy has it: programs that build compare times.
    const now = Date.now() / 1000;
    lutimesSync(temp, now, now);
    return lstatSync(temp);
  }, name);
  if (stat.ino !== file.stat.ino) throw changedMeanwhile('ESTALE');
  if (isSynced) await syncLater(file.fd);
  return { name, stat, version };
}

function hasModeOnly(place: JailEntry, { mode }: Stats): boolean {
  return place.act((at) => accessOf(at, mode, place.path)).attributes?.length === 0;
}
