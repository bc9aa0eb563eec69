/**
 * Writes a file of the cache that several server processes read: to a draft first, then into place by one rename.
 *
 * A reader therefore gets the old bytes or the new ones, never a part; the fsync keeps that true after a power cut.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

import { OWN_MARK } from '#host';

/** Part of the name of a draft, before the mark of the process that writes it. */
export const UNFINISHED = '.new-';

export function writeSharedFile(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}${UNFINISHED}${OWN_MARK}-${randomUUID()}`;
  try {
    writeFileSync(draft, content, { flag: 'wx', flush: true });
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}
