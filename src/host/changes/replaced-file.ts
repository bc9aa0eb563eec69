/**
 * The file at a place, kept while it is replaced.
 *
 * Whoever lets go of a replaced file last waits until its blocks are given back, which takes longer than all the
 * rest of a write. So it is let go of on another thread, afterwards.
 */
import { close, constants, fstatSync, lstatSync, openSync, type Stats } from 'node:fs';

import type { Attributed } from './attribute-calls.ts';

/** Finds a file without opening it. Not in node:fs, and elsewhere the number means something else. */
const O_PATH = process.platform === 'linux' ? 0o10000000 : undefined;

export class HeldFile {
  /** Of the place itself, if it is a link. */
  readonly stat: Stats;
  readonly #fd: number | undefined;

  constructor(place: Buffer) {
    this.#fd = O_PATH && openSync(place, O_PATH | constants.O_NOFOLLOW);
    this.stat = this.#fd === undefined ? lstatSync(place) : fstatSync(this.#fd);
  }

  /** Whether it is what was looked at before. */
  isSame(old: Stats): boolean {
    const { ino, size, mtimeMs } = this.stat;
    return ino === old.ino && size === old.size && mtimeMs === old.mtimeMs;
  }

  /** Itself, whatever stands at the place by now; the place where a file can only be held by its path. */
  attributed(place: Buffer): Attributed {
    return this.#fd === undefined ? place : { foundBy: this.#fd };
  }

  [Symbol.dispose](): void {
    const fd = this.#fd;
    // Nothing depends on it any more, so that even the waking of the thread comes after the answer.
    if (fd !== undefined) setImmediate(() => close(fd, () => {}));
  }
}
