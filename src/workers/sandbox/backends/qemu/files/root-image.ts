/**
 * An image as a disk: its directory in one read-only file system, which all machines of it share.
 *
 * Plain erofs, not compressed: it is made fastest, and the first start of a program from it is fastest too. For an
 * ordinary user all files of an image belong to that user; on the disk they belong to root again, as in a user
 * namespace.
 */
import { hash } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';

import { runProgram } from '#sandbox/images';
import type { ImageReference } from '../../backend.ts';
import { makeOnce, type Waiter } from './make-once.ts';

const MAKE_MS = 300_000;
const BLOCK_BYTES = 4096;

export async function prepareRootImage(
  { digest, directory, name }: ImageReference,
  { cacheDir, ...waiter }: Waiter & { cacheDir: string },
): Promise<string> {
  const target = join(cacheDir, 'erofs', `${digest.replace(':', '-')}.erofs`);
  return makeOnce(target, waiter, async (draft, { signal, onProgress }) => {
    onProgress?.({ image: name, phase: 'building', doneBytes: 0 });
    await runProgram(mkfsCommand(draft, await directory()), {
      signal,
      timeoutMs: MAKE_MS,
      hint: 'disks of virtual machines are made with mkfs.erofs: apt-get install erofs-utils',
    });
  });
}

/** Identifies one build of a disk by its superblock, which has a unique id and time. */
export function rootImageMark(path: string): string {
  const block = Buffer.alloc(BLOCK_BYTES);
  const fd = openSync(path, 'r');
  try {
    readSync(fd, block);
  } finally {
    closeSync(fd);
  }
  return hash('sha256', block);
}

/**
 * Keeps mtimes, or Python would consider its compiled files outdated. An ordinary user runs it as root of a user
 * namespace, in which the user's files belong to root and are all readable.
 */
export function mkfsCommand(target: string, rootDir: string, { isRoot = process.geteuid?.() === 0 } = {}): string[] {
  const asRoot = isRoot ? [] : ['unshare', '--map-root-user', '--'];
  return [...asRoot, 'mkfs.erofs', '--quiet', '--preserve-mtime', '-x-1', target, rootDir];
}
