/**
 * Versions of the contents that edits wrote last, so that the next edit of a file does not hash its content again.
 *
 * Contents are compared byte by byte, which takes a tenth of the time of a hash. Times of files are not enough: another
 * program can change a file twice within one step of the clock.
 */
import { LruCache } from '../system/lru-cache.ts';
import { versionAside } from './jail-version.ts';

/** Hashing smaller contents is faster than keeping them; larger ones are not kept, to bound the memory. */
const LEAST_BYTES = 16 * 1024;
const MOST_BYTES = 512 * 1024;
const MAX_KEPT_BYTES = 4 << 20;

/** Spare bytes of a kept content, so that the next one fits into the same memory. */
const SPARE_BYTES = 4096;

interface Recent {
  readonly memory: Buffer;
  length: number;
  version: string;
}

export class RecentVersions {
  readonly #contents = new LruCache<string, Recent>(MAX_KEPT_BYTES);

  /** Returns the version of the content; `key` is the path of the file. */
  of(key: string, content: Uint8Array): string | Promise<string> {
    const recent = isKept(content) ? this.#contents.get(key) : undefined;
    const isSame =
      recent?.length === content.length && recent.memory.compare(content, 0, content.length, 0, recent.length) === 0;
    return isSame ? recent.version : versionAside(content);
  }

  /** Copies the content: callers reuse its memory. */
  keep(key: string, content: Uint8Array, version: string): void {
    if (!isKept(content)) return;
    const { length } = content;
    const known = this.#contents.get(key);
    const memory = known && known.memory.length >= length ? known.memory : Buffer.allocUnsafeSlow(length + SPARE_BYTES);
    memory.set(content);
    this.#contents.set(key, { memory, length, version }, memory.length);
  }
}

function isKept({ length }: Uint8Array): boolean {
  return length >= LEAST_BYTES && length <= MOST_BYTES;
}

/** Shared by all workers of this process. */
export const recentVersions = new RecentVersions();
