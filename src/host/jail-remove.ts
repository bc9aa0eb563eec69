/**
 * Removing what stands at an entry, with everything below when asked to.
 *
 * Directories are held while they are emptied, and links are removed, not followed. A protected entry anywhere
 * below is found before anything is gone.
 */
import { rmdirSync, unlinkSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';

import type { ByteString } from './byte-string.ts';
import { HostError } from './host-error.ts';
import type { JailDir } from './jail-dir.ts';
import type { JailEntry } from './jail-entry.ts';

/** About five milliseconds of looking at entries. */
const ENTRIES_AT_ONCE = 500;

export interface TreeOptions {
  isProtected: (relativePath: string) => boolean;
  signal: AbortSignal;
}

/** Whether there was anything. */
export async function removeEntry(entry: JailEntry, options: TreeOptions & { recursive: boolean }): Promise<boolean> {
  if (entry.isRoot) throw new HostError('root', entry.path);
  if (!entry.stat) return false;

  if (!entry.stat.isDirectory()) {
    entry.act(unlinkSync);
    return true;
  }
  if (options.recursive) {
    await refuseProtectedBelow(entry, options);
    using dir = entry.openDir();
    await visitBelow(dir, options.signal, (parent, name, kind) => {
      refuseProtected(parent, name, options);
      parent.remove(name, kind);
    });
  }
  entry.act((at) => rmdirSync(at));
  return true;
}

/** Throws when something below a directory is protected. Anything but a directory has nothing below. */
export async function refuseProtectedBelow(entry: JailEntry, options: TreeOptions): Promise<void> {
  if (!entry.stat?.isDirectory()) return;
  using dir = entry.openDir();
  await visitBelow(dir, options.signal, (parent, name) => refuseProtected(parent, name, options));
}

function refuseProtected(dir: JailDir, name: ByteString, { isProtected }: TreeOptions): void {
  const path = dir.pathOf(name);
  if (isProtected(path)) throw new HostError('protected', path);
}

type Visit = (dir: JailDir, name: ByteString, kind: 'directory' | 'other') => void;

/** Everything below, what is in a directory before the directory itself, with turns for others in between. */
async function visitBelow(top: JailDir, signal: AbortSignal, visit: Visit): Promise<void> {
  let sinceTurn = 0;

  async function visitIn(dir: JailDir): Promise<void> {
    // All names first: what goes while a directory is read may hide what is left in it.
    for (const name of [...dir.names()].flat()) {
      if (++sinceTurn % ENTRIES_AT_ONCE === 0) {
        await nextTurn();
        signal.throwIfAborted();
      }
      const stat = dir.lstat(name);
      if (!stat) continue;
      if (stat.isDirectory()) {
        using inner = dir.openDir(name);
        await visitIn(inner);
      }
      visit(dir, name, stat.isDirectory() ? 'directory' : 'other');
    }
  }

  await visitIn(top);
}
