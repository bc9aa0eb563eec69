/**
 * The fence around a directory: turns a path from the wire into a handle of what it leads to, or refuses.
 *
 * With the way there (`jail-way.ts`) the only place that decides containment. The fence is about names: a
 * hard link to a file from elsewhere is a file of this directory.
 */
import { isUtf8 } from 'node:buffer';
import { statSync } from 'node:fs';

import type { ByteString } from './byte-string.ts';
import { HostError } from './host-error.ts';
import { JailDir } from './jail-dir.ts';
import { JailEntry } from './jail-entry.ts';
import { JailFile } from './jail-file.ts';
import { JailWay } from './jail-way.ts';
import { canPinByDescriptor, pinByDescriptor } from './pin-by-descriptor.ts';
import { pinByPath, realPath } from './pin-by-path.ts';

/** How sure the jail can be that what it checked is what it opened; see `pin.ts`. */
export type JailMode = 'descriptor' | 'portable';

export interface JailOptions {
  mode?: JailMode;
  /** Canonical paths from the root that `open`, `target` and `entry` refuse. */
  isProtected?: (relativePath: string) => boolean;
}

/** Links that someone exchanges while we follow them are followed again, up to here. */
const LOOKS = 8;

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
  readonly isProtected: (relativePath: string) => boolean;
  readonly #root: ByteString;
  readonly #way: JailWay;

  constructor(root: ByteString, options: JailOptions) {
    this.mode = options.mode ?? (canPinByDescriptor(root) ? 'descriptor' : 'portable');
    this.#way = new JailWay(this.mode === 'descriptor' ? pinByDescriptor(root) : pinByPath(root));
    this.#root = root;
    this.isProtected = options.isProtected ?? (() => false);
  }

  /** Opens a regular file for reading. */
  open(path: string): JailFile {
    const pin = this.#way.pin(this.#way.parse(path), path);
    try {
      // Before anything that depends on the object, so that a protected one shows nothing of itself.
      this.#refuseProtected(pin.relativePath, path);
      return JailFile.of(pin, path);
    } catch (error) {
      throw HostError.fromErrno(error, path);
    } finally {
      pin.close();
    }
  }

  /** Holds a directory for listing. Protection does not apply: what is inside may be named, not read. */
  openDir(path: string): JailDir {
    return JailDir.of(this.#way.pin(this.#way.parse(path), path), path);
  }

  /** Where a write to the path ends: links are followed, the last one too, and what is missing may be made. */
  target(path: string): JailEntry {
    let parts = this.#way.parse(path);
    for (let look = 0; look < LOOKS; look++) {
      const entry = this.#entry(parts, path);
      if (!entry.stat?.isSymbolicLink()) return this.#unlessProtected(entry);

      entry.close();
      parts = this.#way.namesOf(parts, path);
      // A name that text cannot spell would be another one from here on.
      if (parts.some((name) => name.includes('\uFFFD'))) throw new HostError('invalid-name', path);
    }
    throw new HostError('dangling', path);
  }

  /** What the path names: links are followed on the way, and the last one stands for itself. */
  entry(path: string): JailEntry {
    return this.#unlessProtected(this.#entry(this.#way.parse(path), path));
  }

  /** The same for every way, in every jail, that leads to one entry. */
  keyOf = ({ relativePath }: JailEntry): string => `${this.#root}/${relativePath}`;

  #entry(parts: string[], path: string): JailEntry {
    const { pin, depth } = this.#way.nearest(parts.slice(0, -1), path);
    try {
      return new JailEntry(pin, parts.slice(depth), path);
    } catch (error) {
      pin.close();
      throw error;
    }
  }

  #unlessProtected(entry: JailEntry): JailEntry {
    try {
      this.#refuseProtected(entry.relativePath, entry.path);
      return entry;
    } catch (error) {
      entry.close();
      throw error;
    }
  }

  #refuseProtected(relativePath: string, path: string): void {
    if (relativePath !== '' && this.isProtected(relativePath)) throw new HostError('protected', path);
  }
}
