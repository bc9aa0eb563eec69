/**
 * Removing what stands at an entry, with everything below when asked to.
 *
 * Directories are held while they are emptied, and links are removed, not followed. A protected entry anywhere
 * below is found before anything is gone.
 */
import { rmdirSync, unlinkSync } from 'node:fs';

import { HostError } from './host-error.ts';
import { refuseProtectedBelow, changeBelow, type BelowOptions } from './jail-below.ts';
import type { JailEntry } from './jail-entry.ts';

/** Whether there was anything. */
export async function removeEntry(entry: JailEntry, options: BelowOptions & { recursive: boolean }): Promise<boolean> {
  if (entry.isRoot) throw new HostError('root', entry.path);
  if (!entry.stat) return false;

  if (!entry.stat.isDirectory()) {
    entry.act(unlinkSync);
    return true;
  }
  if (options.recursive) {
    await refuseProtectedBelow(entry, options);
    using dir = entry.openDir();
    await changeBelow(dir, options, {
      after: (parent, name, kind) => parent.remove(name, kind === 'directory' ? 'directory' : 'other'),
    });
  }
  entry.act((at) => rmdirSync(at));
  return true;
}
