/**
 * Caches the first names of huge directories between calls, so that the next page needs no listing.
 *
 * A cached list is used only while the directory's mtime and ctime, read on each call, are those it was listed at.
 */
import type { Stats } from 'node:fs';

import type { ByteString } from '../text/byte-string.ts';
import { firstNames, type FirstNames } from './first-names.ts';
import { NAMES_AT_ONCE, type JailDir } from '../jail/jail-dir.ts';
import { LruCache } from '../system/lru-cache.ts';
import { isSettled } from './stable-times.ts';

/** Factor by which a listing reads more than requested, because the next page is likely wanted too. */
const AHEAD = 8;

const MAX_KEPT_BYTES = 32 << 20;

/** Overhead of a string. */
const STRING_BYTES = 24;

/**
 * Local file systems that update a directory's times whenever a name in it comes or goes: ext, XFS, Btrfs, F2FS, ZFS,
 * tmpfs and overlays of these. `/proc` does not, and the clock of a file server may differ.
 */
const TOUCHES_DIRECTORIES = new Set([0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0x2fc12fc1, 0x01021994, 0x794c7630]);

interface KeptNames extends FirstNames {
  mtimeMs: number;
  ctimeMs: number;
}

interface Folder extends Pick<JailDir, 'names' | 'fileSystemType'> {
  readonly stat: Pick<Stats, 'dev' | 'ino' | 'mtimeMs' | 'ctimeMs'>;
}

export class FolderNames {
  readonly #kept = new LruCache<string, KeptNames>(MAX_KEPT_BYTES);
  readonly #smallest: number;

  /** A directory with no more names than `smallest` is listed each time: that takes no longer than reading the cache. */
  constructor(smallest = NAMES_AT_ONCE) {
    this.#smallest = smallest;
  }

  /** The names from one index in byte order to another, and the number of all names. */
  async slice(
    dir: Folder,
    { from, to }: { from: number; to: number },
    scope: { readonly signal: AbortSignal },
  ): Promise<FirstNames> {
    const { names, total } = await this.#first(dir, to, scope);
    return { names: names.slice(from, to), total };
  }

  /** As `firstNames`, with more than the limit where more are known. */
  async #first(dir: Folder, limit: number, scope: { readonly signal: AbortSignal }): Promise<FirstNames> {
    const { dev, ino, mtimeMs, ctimeMs } = dir.stat;
    const key = `${dev}:${ino}`;
    const kept = this.#kept.get(key);
    const isCurrent = kept?.mtimeMs === mtimeMs && kept.ctimeMs === ctimeMs;
    if (isCurrent && kept.names.length >= Math.min(limit, kept.total)) return kept;

    const wasSettled = isSettled(dir.stat);
    const first = await firstNames(dir, Math.max(limit * AHEAD, this.#smallest), scope);
    const isHuge = first.total > this.#smallest;
    if (isHuge && wasSettled && TOUCHES_DIRECTORIES.has(dir.fileSystemType())) {
      this.#kept.set(key, { ...first, mtimeMs, ctimeMs }, weightOf(first.names));
    }
    return first;
  }
}

function weightOf(names: readonly ByteString[]): number {
  return names.reduce((bytes, name) => bytes + name.length + STRING_BYTES, 0);
}
