/**
 * The fence around a directory: turns a path from the wire into a handle of what it leads to, or refuses.
 *
 * The only place that decides containment. The reason for a refusal tells nothing about the world
 * outside: a path that leaves the root at any step is an escape, whatever exists out there and
 * wherever it would have come back. The fence is about names: a hard link to a file from elsewhere
 * is a file of this directory.
 */
import { isUtf8 } from 'node:buffer';
import { constants, lstatSync, statSync } from 'node:fs';
import { isAbsolute } from 'node:path';

import { toBytes, type ByteString } from './byte-string.ts';
import { HostError } from './host-error.ts';
import { JailDir } from './jail-dir.ts';
import { JailFile } from './jail-file.ts';
import { canPinByDescriptor, pinByDescriptor } from './pin-by-descriptor.ts';
import { pinByPath, realPath } from './pin-by-path.ts';
import type { Pin, PinPath } from './pin.ts';

/** How sure the jail can be that what it checked is what it opened; see `pin.ts`. */
export type JailMode = 'descriptor' | 'portable';

export interface JailOptions {
  mode?: JailMode;
  /** Canonical paths from the root that `open` refuses. */
  isProtected?: (relativePath: string) => boolean;
}

/** The longest path the kernel takes, which also bounds the work that `..` can cause. */
const MAX_PATH_BYTES = 4096;

const READ_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/** A jail on a directory, whose canonical path is fixed from now on. Fails when there is no such directory. */
export function openJail(root: string, options: JailOptions = {}): Jail {
  try {
    const canonical = realPath(root);
    if (!isUtf8(Buffer.from(canonical, 'latin1'))) throw new HostError('invalid-name', root);
    if (!statSync(root).isDirectory()) throw new HostError('not-a-directory', root);
    return new Jail(canonical, options);
  } catch (error) {
    throw HostError.fromErrno(error, root);
  }
}

export class Jail {
  readonly mode: JailMode;
  readonly #pinPath: PinPath;
  readonly #isProtected: (relativePath: string) => boolean;

  constructor(root: ByteString, options: JailOptions) {
    this.mode = options.mode ?? (canPinByDescriptor(root) ? 'descriptor' : 'portable');
    this.#pinPath = this.mode === 'descriptor' ? pinByDescriptor(root) : pinByPath(root);
    this.#isProtected = options.isProtected ?? (() => false);
  }

  /** Opens a regular file for reading. */
  open(path: string): JailFile {
    const pin = this.#pin(this.#parse(path), path);
    try {
      // Before anything that depends on the object, so that a protected one shows nothing of itself.
      if (pin.relativePath !== '' && this.#isProtected(pin.relativePath)) throw new HostError('protected', path);
      if (!pin.stat.isFile()) throw new HostError('not-a-file', path);
      return new JailFile(pin.open(READ_FLAGS), pin, path);
    } catch (error) {
      throw HostError.fromErrno(error, path);
    } finally {
      pin.close();
    }
  }

  /** Holds a directory for listing. Protection does not apply: what is inside may be named, not read. */
  openDir(path: string): JailDir {
    const pin = this.#pin(this.#parse(path), path);
    if (pin.stat.isDirectory()) return new JailDir(pin, path);

    pin.close();
    throw new HostError('not-a-directory', path);
  }

  /** The names a path consists of, without `.` and `..`. */
  #parse(path: string): string[] {
    if (isAbsolute(path)) throw new HostError('absolute', path);
    if (path.includes('\0') || Buffer.byteLength(path) > MAX_PATH_BYTES) throw new HostError('invalid-name', path);

    let parts: string[] = [];
    for (const name of path.split('/')) {
      if (name === '..') parts = this.#parentOf(parts, path);
      else if (name !== '' && name !== '.') parts.push(name);
    }
    return parts;
  }

  /** Where `..` leads: to the parent of the real directory, or of the name where nothing is there. */
  #parentOf(parts: string[], path: string): string[] {
    const names = this.#realNames(parts, path);
    if (names.length === 0) throw new HostError('escape', path);
    return names.slice(0, -1);
  }

  #realNames(parts: string[], path: string): string[] {
    try {
      const pin = this.#pin(parts, path);
      pin.close();
      return pin.relativePath.split('/').filter((name) => name !== '');
    } catch (error) {
      if (!(error instanceof HostError) || error.reason === 'escape' || error.reason === 'dangling') throw error;
      return parts;
    }
  }

  #pin(parts: string[], path: string): Pin {
    let pin: Pin | undefined;
    try {
      pin = this.#pinPath(parts);
    } catch (error) {
      throw this.#explain(error, parts, path);
    }
    if (!pin) throw new HostError('escape', path);
    return pin;
  }

  /** Why the system did not get there, judged from as far as it does get. */
  #explain(error: unknown, parts: string[], path: string): HostError {
    for (let depth = parts.length - 1; depth >= 0; depth--) {
      let ancestor: Pin | undefined;
      try {
        ancestor = this.#pinPath(parts.slice(0, depth));
      } catch {
        continue;
      }
      if (!ancestor) return new HostError('escape', path);

      const isLink = isSymlink(ancestor.at(toBytes(parts[depth]!)));
      ancestor.close();
      if (isLink) return new HostError('dangling', path);
      break;
    }
    return HostError.fromErrno(error, path);
  }
}

function isSymlink(path: Buffer): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}
