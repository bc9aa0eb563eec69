/** Counts of a layer, and of changes that other programs made in the workspace below it. */
import type { Dirent, Stats } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

export interface LayerSize {
  /** Entries that are not directories; a removed one counts too. */
  readonly files: number;
  readonly bytes: number;
}

const LANES = 32;
/** With more entries than this the workspace is not scanned. */
const MOST_ENTRIES = 200_000;

export async function sizeOfLayer(upper: string): Promise<LayerSize> {
  let [files, bytes] = [0, 0];
  await below(upper, Infinity, (_path, stat) => {
    files++;
    bytes += stat.isFile() ? stat.size : 0;
  });
  return { files, bytes };
}

/** Paths from the root, with the ctime, of files of the workspace that changed since then; undefined if there are too many files. */
export async function changedSince(workspace: string, sinceNs: bigint): Promise<Map<string, bigint> | undefined> {
  const changed = new Map<string, bigint>();
  const sinceMs = Number(sinceNs / 1_000_000n);
  const isWhole = await below(workspace, MOST_ENTRIES, (path, stat) => {
    if (stat.ctimeMs >= sinceMs) changed.set(path.slice(workspace.length + 1), BigInt(Math.floor(stat.ctimeMs * 1e6)));
  });
  return isWhole ? changed : undefined;
}

/** Calls `see` for every entry that is not a directory. False if there are more than `most` entries. */
async function below(root: string, most: number, see: (path: string, stat: Stats) => void): Promise<boolean> {
  const waiting = [root];
  let count = 0;
  while (waiting.length > 0 && count <= most) {
    const batch = waiting.splice(-LANES);
    await Promise.all(
      batch.map(async (folder) => {
        const entries = await unlessGone(readdir(folder, { withFileTypes: true }), [] as Dirent[]);
        count += entries.length;
        const files = entries.filter((entry) => !entry.isDirectory()).map(({ name }) => join(folder, name));
        for (const entry of entries) if (entry.isDirectory()) waiting.push(join(folder, entry.name));
        const stats = await Promise.all(files.map((path) => unlessGone(lstat(path), undefined)));
        for (const [at, stat] of stats.entries()) if (stat) see(files[at]!, stat);
      }),
    );
  }
  return count <= most;
}

async function unlessGone<T>(reading: Promise<T>, otherwise: T): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    if (!(error instanceof Error && 'errno' in error)) throw error;
    return otherwise;
  }
}
