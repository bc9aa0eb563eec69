/**
 * A file or directory of the cache that is made where it is missing: once in this process, by one process at a time.
 *
 * It is made beside its place and put there by a rename, so whoever finds it finds all of it. Drafts of processes that
 * died are removed by the next that makes something there.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

import { isAlive, OWN_MARK } from '#host';
import { SharedWork, UNFINISHED, withBuildLock, type ImageProgress, type Watcher } from '#sandbox/images';

/** Who waits for it: told how far it is, and gone when its signal says so. */
export type Waiter = Watcher<ImageProgress>;

export type Make = (draft: string, waiter: Required<Waiter>) => Promise<void>;

const making = new SharedWork<void, ImageProgress>();

/** The path it was asked for. */
export async function makeOnce(target: string, waiter: Waiter, make: Make): Promise<string> {
  if (existsSync(target)) return target;
  await making.do(target, waiter, async (signal, onProgress) => {
    const lock = join(dirname(target), `.lock-${basename(target)}`);
    await withBuildLock(lock, signal, async () => {
      if (!existsSync(target)) await makeHere(target, (draft) => make(draft, { signal, onProgress }));
    });
  });
  return target;
}

/** Takes it out of sight in one step, so nobody finds a part of it; then off the disk. */
export function removeMade(target: string): void {
  const trash = draftBeside(target);
  try {
    renameSync(target, trash);
  } catch (error) {
    // Another process removed it.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  rmSync(trash, { recursive: true, force: true });
}

async function makeHere(target: string, make: (draft: string) => Promise<void>): Promise<void> {
  removeUnfinished(dirname(target));
  const draft = draftBeside(target);
  mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
  try {
    await make(draft);
    renameSync(draft, target);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

function draftBeside(target: string): string {
  return join(dirname(target), `${UNFINISHED}${OWN_MARK}-${randomUUID()}`);
}

function removeUnfinished(dir: string): void {
  for (const name of readdirSync(dir).filter((entry) => entry.startsWith(UNFINISHED))) {
    const owner = name.slice(UNFINISHED.length).split('-').slice(0, 2).join('-');
    if (!isAlive(owner)) rmSync(join(dir, name), { recursive: true, force: true });
  }
}
