/** Resolves paths of a jail and runs work while their files are locked. */
import { isDeepStrictEqual } from 'node:util';

import { HostError } from '../host-error.ts';
import type { JailEntry } from '../jail/jail-entry.ts';
import type { Jail } from '../jail/jail.ts';
import { changedMeanwhile } from '../jail/pin.ts';
import { fileLocks } from './file-locks.ts';

/** Attempts to lock a path that resolves to another file each time the lock is granted. */
const ATTEMPTS = 8;

/** `target` follows a symlink at the end of a path, `entry` does not. */
type Kind = 'target' | 'entry';

export interface LockedPaths {
  readonly kind: Kind;
  readonly paths: readonly string[];
  readonly caller: Pick<AbortSignal, 'throwIfAborted'>;
}

/** Locks the resolved paths; resolves them again if a lock had to be waited for. */
export async function whileLocked<T>(
  jail: Jail,
  { kind, paths, caller }: LockedPaths,
  work: (entries: JailEntry[]) => Promise<T>,
): Promise<T> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    let keys: string[];
    {
      using found = find(jail, kind, paths);
      keys = found.keys;
      caller.throwIfAborted();
      if (fileLocks.areFree(keys)) return await fileLocks.run(keys, () => work(found.entries));
    }
    const later = await fileLocks.run(keys, async () => {
      using found = find(jail, kind, paths);
      caller.throwIfAborted();
      return isDeepStrictEqual(found.keys, keys) ? { result: await work(found.entries) } : undefined;
    });
    if (later) return later.result;
  }
  throw HostError.fromErrno(changedMeanwhile('ESTALE'), paths[0]!);
}

/** Resolves the paths and keeps them open, with their keys for fileLocks. */
function find(jail: Jail, kind: Kind, paths: readonly string[]): Disposable & { entries: JailEntry[]; keys: string[] } {
  const entries: JailEntry[] = [];
  const close = () => entries.forEach((entry) => entry.close());
  try {
    for (const path of paths) entries.push(jail[kind](path));
    return { entries, keys: entries.map(jail.keyOf), [Symbol.dispose]: close };
  } catch (error) {
    close();
    throw error;
  }
}
