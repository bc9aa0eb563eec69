/** Removes the directories of changes that have ended, one entry after the other, so that it does not block calls. */
import { readdirSync } from 'node:fs';
import { readdir, rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';

import { removeMade } from '../changes/jail-remove.ts';
import { openJail } from '../jail/jail.ts';

const PREFIX = '.gone-';

export function nameWhenRemoved(id: string): string {
  return PREFIX + id;
}

/** Removes the leftovers of ended changes, also those of killed processes. */
export async function sweepRemoved(directory: string): Promise<void> {
  for (const name of readdirSync(directory).filter((entry) => entry.startsWith(PREFIX))) {
    try {
      await removeBelow(join(directory, name));
    } catch {
      // A mode or a name that is not UTF-8 prevents it, or another server sweeps too.
      using entry = openJail(directory).entry(name);
      await removeMade(entry);
    }
  }
}

/** Waits for each system call: many at once would keep the calls of others waiting for a thread. */
async function removeBelow(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await removeBelow(path);
    else await unlink(path);
  }
  await rmdir(folder);
}
