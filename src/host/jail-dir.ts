/**
 * A directory of the jail, held while it is listed.
 *
 * Names and what they are come through the held object, never through its path again.
 */
import { lstatSync, opendirSync, type Stats } from 'node:fs';

import type { ByteString } from './byte-string.ts';
import { HostError } from './host-error.ts';
import type { Pin } from './pin.ts';

/** About two milliseconds of reading. */
export const NAMES_AT_ONCE = 4096;

export class JailDir {
  readonly #pin: Pin;
  readonly #path: string;

  constructor(pin: Pin, path: string) {
    this.#pin = pin;
    this.#path = path;
  }

  get relativePath(): string {
    return this.#pin.relativePath;
  }

  get stat(): Stats {
    return this.#pin.stat;
  }

  /** The names in it, in no order, a batch at a time so that the reader can let others work in between. */
  *names(): Generator<ByteString[]> {
    try {
      const dir = opendirSync(this.#pin.at('.' as ByteString), { encoding: 'latin1', bufferSize: 1024 });
      try {
        this.#pin.recheck();
        let batch: ByteString[] = [];
        for (let entry = dir.readSync(); entry; entry = dir.readSync()) {
          batch.push(entry.name as ByteString);
          if (batch.length < NAMES_AT_ONCE) continue;
          yield batch;
          batch = [];
        }
        yield batch;
      } finally {
        dir.closeSync();
      }
    } catch (error) {
      throw HostError.fromErrno(error, this.#path);
    }
  }

  /** What a name is, links not followed; undefined when it is no longer there. */
  lstat(name: ByteString): Stats | undefined {
    try {
      const stat = lstatSync(this.#pin.at(name), { throwIfNoEntry: false });
      this.#pin.recheck();
      return stat;
    } catch (error) {
      throw HostError.fromErrno(error, this.#path);
    }
  }

  close(): void {
    this.#pin.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
