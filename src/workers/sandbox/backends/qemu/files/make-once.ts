/**
 * Makes a file or directory of the cache if it is missing: once in this process, by one process at a time.
 *
 * It is made under a temporary name and renamed, so it is always complete. The next process that makes an item removes
 * drafts of dead processes.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

import { isAlive, OWN_MARK } from '#host';
import { ifExists, SharedWork, UNFINISHED, withBuildLock, type ImageProgress, type Watcher } from '#sandbox/images';

/** A caller that waits: receives the progress, and stops waiting when its signal is aborted. */
export type Waiter = Watcher<ImageProgress>;

export type Make = (draft: string, waiter: Required<Waiter>) => Promise<void>;

const making = new SharedWork<void, ImageProgress>();

/** Returns `target`. */
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

/** Removes it by a rename first, so that no process sees a part of it; then deletes it. */
export function removeMade(target: string): void {
  const trash = draftBeside(target);
  ifExists(() => renameSync(target, trash));
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
