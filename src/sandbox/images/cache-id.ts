/**
 * An id of a cache that does not reveal its path: the command line asks a running engine for it, to check that both use
 * the same cache.
 */
import { randomUUID } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { ifExists } from './if-exists.ts';

/** Created on first use. Undefined if the cache is not writable. */
export function cacheIdOf(cacheDir: string): string | undefined {
  const file = join(cacheDir, 'cache-id');
  try {
    return readId(file) ?? makeId(cacheDir, file);
  } catch {
    return undefined;
  }
}

function readId(file: string): string | undefined {
  return ifExists(() => readFileSync(file, 'utf8').trim()) || undefined;
}

/** If two processes create one, both get the first: a hard link, unlike a rename, replaces nothing. */
function makeId(cacheDir: string, file: string): string | undefined {
  mkdirSync(cacheDir, { recursive: true });
  const beside = `${file}.${randomUUID()}`;
  writeFileSync(beside, `${randomUUID()}\n`, { flag: 'wx' });
  try {
    linkSync(beside, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(beside, { force: true });
  }
  return readId(file);
}
