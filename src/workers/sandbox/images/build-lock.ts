/**
 * Lets one process at a time make an image; the others wait and find it made.
 *
 * It saves work and is not what keeps the cache right: a finished image is put in place by one rename, so even two that
 * slip through at once (a lock whose owner died is taken over) only do the work twice.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { isAlive, OWN_MARK } from './process-mark.ts';

const LOOK_AGAIN_MS = 100;

export async function withBuildLock<T>(path: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  mkdirSync(dirname(path), { recursive: true });
  while (!take(path)) await sleep(LOOK_AGAIN_MS, undefined, { signal });
  try {
    return await work();
  } finally {
    rmSync(path, { force: true });
  }
}

function take(path: string): boolean {
  try {
    writeFileSync(path, OWN_MARK, { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const owner = ownerOf(path);
  // An empty file is a lock that is being written this moment.
  if (owner !== undefined && owner !== '' && !isAlive(owner)) rmSync(path, { force: true });
  return false;
}

function ownerOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
