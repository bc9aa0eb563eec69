/** A file of the jail, open for reading: `stat` and `read` refer to the same object. */
import { closeSync, constants, fstatSync, read, readSync, type Stats } from 'node:fs';
import { promisify } from 'node:util';

import { HostError } from '../host-error.ts';
import { closingOnFailure, type Pin } from './pin.ts';

/** Up to this size a file is read synchronously: cheaper than a round trip through the thread pool. */
const SMALL_BYTES = 1 << 20;

/** With these flags neither a FIFO nor a terminal can block the open. */
export const READ_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

const readLater = promisify(read);

export class JailFile {
  readonly relativePath: string;
  readonly stat: Stats;
  readonly #path: string;
  #fd: number;

  constructor(fd: number, { relativePath, stat }: Pick<Pin, 'relativePath' | 'stat'>, path: string) {
    this.#fd = fd;
    this.#path = path;
    this.relativePath = relativePath;
    this.stat = stat;
  }

  /** Opens the pinned object if it is a regular file; opens nothing else. */
  static of(pin: Pin, path: string): JailFile {
    if (!pin.stat.isFile()) throw new HostError('not-a-file', path);
    return new JailFile(pin.open(READ_FLAGS), pin, path);
  }

  /** Takes the descriptor over if it is a regular file; else closes it and returns undefined. */
  static ofOpened(fd: number, { relativePath, path }: { relativePath: string; path: string }): JailFile | undefined {
    const stat = closingOnFailure(fd, () => fstatSync(fd));
    if (stat.isFile()) return new JailFile(fd, { relativePath, stat }, path);
    closeSync(fd);
    return undefined;
  }

  get fd(): number {
    return this.#fd;
  }

  /** The content, at most `stat.size` bytes even if the file grows meanwhile. */
  async read(bytes: Buffer = Buffer.allocUnsafe(this.stat.size)): Promise<Buffer> {
    let filled = 0;
    try {
      while (filled < bytes.length) {
        const count = await this.#readInto(bytes, filled);
        if (count === 0) break;
        filled += count;
      }
    } catch (error) {
      throw HostError.fromErrno(error, this.#path);
    }
    return bytes.subarray(0, filled);
  }

  #readInto(bytes: Buffer, at: number): number | Promise<number> {
    const length = Math.min(bytes.length - at, SMALL_BYTES);
    if (bytes.length <= SMALL_BYTES) return readSync(this.#fd, bytes, at, length, at);
    return readLater(this.#fd, bytes, at, length, at).then(({ bytesRead }) => bytesRead);
  }

  get size(): number {
    return this.stat.size;
  }

  /** Fills the target from a position, up to `stat.size`; returns the number of bytes read. */
  readAt(target: Buffer, position: number): number {
    const wanted = Math.min(target.length, this.stat.size - position);
    let filled = 0;
    try {
      while (filled < wanted) {
        const count = readSync(this.#fd, target, filled, wanted - filled, position + filled);
        if (count === 0) break;
        filled += count;
      }
    } catch (error) {
      throw HostError.fromErrno(error, this.#path);
    }
    return filled;
  }

  close(): void {
    if (this.#fd < 0) return;
    closeSync(this.#fd);
    this.#fd = -1;
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
