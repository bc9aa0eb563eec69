/** Our programs in C, compiled once for all tests: that takes longer than many of them. */
import { cpSync, existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The cache of sandboxes that tests share. It stays after the run, like the packages beside it. */
export const SHARED_CACHE_DIR = fileURLToPath(new URL('../../../node_modules/.cache/workcell-qemu', import.meta.url));

const SHARED_PROGRAMS = join(SHARED_CACHE_DIR, 'programs');

/** Lets processes with this cache directory of sandboxes use the shared programs. */
export function shareProgramsIn(cacheDir: string): void {
  for (const folder of [cacheDir, SHARED_PROGRAMS]) mkdirSync(folder, { recursive: true });
  symlinkSync(SHARED_PROGRAMS, join(cacheDir, 'programs'));
}

/** Gives another user's cache a copy of our programs, as far as they are built; the user builds the others. */
export function copyPrograms(cacheDir: string): void {
  if (!existsSync(SHARED_PROGRAMS)) return;
  // Drafts, which have a dot in their names, are renamed at any moment by tests that build them.
  const filter = (path: string) => !basename(path).includes('.');
  cpSync(SHARED_PROGRAMS, join(cacheDir, 'programs'), { recursive: true, filter });
}
