/**
 * Lets one process at a time make an item of the cache; the others wait and find it made.
 *
 * A lock is a folder in which every process that wants it puts a claim named after itself, then lists: a process that
 * is alone among the living has the lock, the others withdraw their claims. The claim of a dead process is removed by
 * its name, which no other claim ever has, so a takeover cannot remove the lock of a faster process.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { isAlive, OWN_MARK } from '#host';

const RETRY_MS = 100;

export async function withBuildLock<T>(path: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const folder = `${path}.claims`;
  const claim = `${OWN_MARK}-${randomUUID()}`;
  // Two processes that list at the same moment both withdraw; the random delay separates their next attempts.
  while (!take(folder, claim)) await sleep(RETRY_MS * (0.5 + Math.random()), undefined, { signal });
  try {
    return await work();
  } finally {
    giveBack(folder, claim);
  }
}

function take(folder: string, claim: string): boolean {
  mkdirSync(folder, { recursive: true });
  try {
    if (isClaimed(folder, claim)) return false;
    writeFileSync(join(folder, claim), '', { flag: 'wx' });
    if (!isClaimed(folder, claim)) return true;
  } catch (error) {
    // Retries: the last holder removed the folder in between.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
  giveBack(folder, claim);
  return false;
}

/** Whether another living process has a claim. */
function isClaimed(folder: string, own: string): boolean {
  const others = readdirSync(folder).filter((claim) => claim !== own);
  const dead = others.filter((claim) => !isAlive(claim));
  for (const claim of dead) rmSync(join(folder, claim), { force: true });
  return dead.length < others.length;
}

function giveBack(folder: string, claim: string): void {
  rmSync(join(folder, claim), { force: true });
  try {
    rmdirSync(folder);
  } catch {
    // Fails if others wait in the folder, or if the last of them removed it.
  }
}
