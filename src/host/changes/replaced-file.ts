/**
 * A file kept open while it is replaced.
 *
 * The close that drops the last reference to a replaced file waits until its blocks are freed, which takes longer than
 * the rest of a write. So the file is closed on another thread, after the write.
 */
import { close, constants, fstatSync, lstatSync, openSync, type Stats } from 'node:fs';

import type { Attributed } from './attribute-calls.ts';

/** Opens a file as a reference only. Missing in node:fs, and another flag on other systems. */
const O_PATH = process.platform === 'linux' ? 0o10000000 : undefined;

type Seen = Pick<Stats, 'ino' | 'size' | 'mtimeMs'>;

/** True if it is still the file of an earlier stat, unchanged. */
export function isSameFile(now: Seen, old: Seen): boolean {
  return now.ino === old.ino && now.size === old.size && now.mtimeMs === old.mtimeMs;
}

export class ReplacedFile {
  /** Stat of the path itself, also of a symlink. */
  readonly stat: Stats;
  readonly #fd: number | undefined;

  constructor(target: Buffer) {
    this.#fd = O_PATH && openSync(target, O_PATH | constants.O_NOFOLLOW);
    this.stat = this.#fd === undefined ? lstatSync(target) : fstatSync(this.#fd);
  }

  /** The file itself, even if the path names another by now; the path on systems without `O_PATH`. */
  attributed(target: Buffer): Attributed {
    return this.#fd === undefined ? target : { foundBy: this.#fd };
  }

  [Symbol.dispose](): void {
    const fd = this.#fd;
    // Deferred, so that even waking the thread happens after the response.
    if (fd !== undefined) setImmediate(() => close(fd, () => {}));
  }
}
