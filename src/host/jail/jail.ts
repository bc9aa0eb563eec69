/**
 * The fence around a directory, or several: turns a path from the wire into a handle of what it leads to, or refuses.
 *
 * With the way there (`resolve-path.ts`) the only place that decides containment. The fence is about names: a
 * hard link to a file from elsewhere is a file of this directory.
 */
import { isUtf8 } from 'node:buffer';
import { statSync } from 'node:fs';

import { toBytes, toText, type ByteString } from '../text/byte-string.ts';
import { HostError } from '../host-error.ts';
import { JailDir } from './jail-dir.ts';
import { JailEntry } from './jail-entry.ts';
import { JailFile } from './jail-file.ts';
import { openAtOnceWithin, type OpenAtOnce } from './jail-open.ts';
import { JailWay, type Spelling } from './resolve-path.ts';
import { canPinByDescriptor, pinByDescriptor } from './pin-by-descriptor.ts';
import { pinByPath, realPath } from './pin-by-path.ts';
import { pinShown } from './pin-shown.ts';
import { boundsOf, EVERYTHING, prefixOf, type Bounds, type Pin } from './pin.ts';
import { systemCalls, type SystemCalls } from '../system/system-calls.ts';

/** How sure the jail can be that what it checked is what it opened; see `pin.ts`. */
export type JailMode = 'descriptor' | 'portable';

/** Whether a file whose path has no link on it is opened at once, or every file is found first. */
export type JailOpening = 'at-once' | 'after-finding';

/** How a jail works, where that is not to be the best that the system offers. */
export interface JailChoice {
  mode?: JailMode;
  opening?: JailOpening;
}

export interface JailOptions extends JailChoice {
  /** Canonical paths, as `relativePath` tells them, that `open`, `target` and `entry` refuse. */
  isProtected?: (relativePath: string) => boolean;
  /** Those that look as if nothing were there, and where nothing can be put. */
  isHidden?: (relativePath: string) => boolean;
}

/** Links that someone exchanges while we follow them are followed again, up to here. */
const LOOKS = 8;

/** A jail on a directory, whose canonical path is fixed from now on. Fails when there is no such directory. */
export function openJail(root: string, options: JailOptions = {}): Jail {
  return new Jail([canonicalRoot(root)], 'relative', options);
}

/**
 * A jail on several directories, whose paths are absolute: `relativePath` then starts at `/`. With `from`, one of
 * the directories, a relative path starts there.
 */
export function openAbsoluteJail(roots: readonly string[], options: JailOptions & { from?: string } = {}): Jail {
  return new Jail(roots.map(canonicalRoot), 'absolute', options);
}

function canonicalRoot(root: string): ByteString {
  try {
    const canonical = realPath(root);
    if (!isUtf8(Buffer.from(canonical, 'latin1'))) throw new HostError('invalid-name', root);
    if (!statSync(root).isDirectory()) throw new HostError('not-a-directory', root);
    return canonical;
  } catch (error) {
    throw HostError.fromErrno(error, root);
  }
}

export class Jail {
  readonly mode: JailMode;
  /** The canonical directories it is on. */
  readonly roots: readonly string[];
  readonly isProtected: (relativePath: string) => boolean;
  readonly #isHidden: JailOptions['isHidden'];
  /** What a relative path begins with to be absolute. */
  readonly #prefix: string;
  readonly #way: JailWay;
  /** Nothing where files are found before they are opened. */
  readonly #callsToUse: () => SystemCalls | undefined;
  readonly #openAtOnce: OpenAtOnce;

  constructor(roots: ByteString[], spelling: Spelling['kind'], options: JailOptions & { from?: string }) {
    this.mode = options.mode ?? (roots.every(canPinByDescriptor) ? 'descriptor' : 'portable');
    const mayOpenAtOnce = this.mode === 'descriptor' && options.opening !== 'after-finding';
    const callsToUse = mayOpenAtOnce ? systemCalls : () => undefined;
    const { isHidden, isProtected = () => false } = options;
    const pinWithin = (within: Bounds) =>
      pinShown(this.mode === 'descriptor' ? pinByDescriptor(within, callsToUse) : pinByPath(within), within);
    const isRelative = spelling === 'relative';
    const bounds = { ...boundsOf(isRelative ? roots[0]! : ('/' as ByteString), roots), isHidden };
    this.#prefix = prefixOf(bounds.start);
    this.#way = new JailWay(
      pinWithin(bounds),
      isRelative
        ? { kind: spelling }
        : { kind: spelling, from: options.from, anywhere: pinWithin({ ...EVERYTHING, isHidden }) },
    );
    this.roots = roots.map(toText);
    this.isProtected = isProtected;
    this.#isHidden = isHidden;
    this.#callsToUse = callsToUse;
    this.#openAtOnce = openAtOnceWithin(bounds, callsToUse);
  }

  get opening(): JailOpening {
    return this.#callsToUse() ? 'at-once' : 'after-finding';
  }

  /** Opens a regular file for reading. */
  open(path: string): JailFile {
    const parts = this.#way.parse(path);
    return this.#openAtOnce({ parts, path, isClosed: this.isClosed }) ?? this.#openFound(parts, path);
  }

  #openFound(parts: string[], path: string): JailFile {
    const pin = this.#pinFile(parts, path);
    try {
      // Before anything that depends on the object, so that a protected one shows nothing of itself.
      this.#refuseProtected(parts, pin.relativePath, path);
      return JailFile.of(pin, path);
    } catch (error) {
      throw HostError.fromErrno(error, path);
    } finally {
      pin.close();
    }
  }

  /** What stands in the way of a file tells nothing of a protected one. */
  #pinFile(parts: string[], path: string): Pin {
    try {
      return this.#way.pin(parts, path);
    } catch (error) {
      const isTold = error instanceof HostError && error.reason !== 'missing';
      if (isTold && this.#way.leadsThrough(this.isProtected, parts)) throw new HostError('protected', path);
      throw error;
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
      const isEnd = !entry.stat?.isSymbolicLink() || this.isProtected(entry.relativePath);
      if (isEnd) return this.#unlessProtected(parts, entry);

      entry.close();
      parts = this.#way.namesOf(parts, path);
      // A name that text cannot spell would be another one from here on.
      if (parts.some((name) => name.includes('\uFFFD'))) throw new HostError('invalid-name', path);
    }
    throw new HostError('dangling', path);
  }

  /** What the path names: links are followed on the way, and the last one stands for itself. */
  entry(path: string): JailEntry {
    const parts = this.#way.parse(path);
    return this.#unlessProtected(parts, this.#entry(parts, path));
  }

  /** Why a canonical path must not be touched, if it must not. */
  refusal = (relativePath: string): 'protected' | 'hidden' | undefined => {
    if (this.isProtected(relativePath)) return 'protected';
    return this.#isHidden?.(relativePath) ? 'hidden' : undefined;
  };

  isClosed = (relativePath: string): boolean => this.refusal(relativePath) !== undefined;

  /** The same for every way, in every jail, that leads to one entry. */
  keyOf = ({ relativePath }: JailEntry): string => this.#absolute(relativePath);

  /** Where a path leads on the host, inside or not, links followed as far as they lead: only to be told. */
  tellTarget(path: string): string {
    return this.#absolute(this.#way.lastNames(path).join('/'));
  }

  #absolute(relativePath: string): string {
    return relativePath === '' ? this.#prefix || '/' : `${this.#prefix}/${relativePath}`;
  }

  #entry(parts: string[], path: string): JailEntry {
    const { pin, names } = this.#nearestParent(parts, path);
    try {
      return new JailEntry(pin, names.map(toBytes), path, { isRoot: this.#isRoot });
    } catch (error) {
      pin.close();
      throw error;
    }
  }

  /** The directory that holds the entry as far as it is there, and the names that lead on; a root is held itself. */
  #nearestParent(parts: string[], path: string): { pin: Pin; names: string[] } {
    try {
      const { pin, depth } = this.#way.nearest(parts.slice(0, -1), path);
      return { pin, names: parts.slice(depth) };
    } catch (error) {
      const pin = this.#way.pinIf(this.#isRoot, parts);
      if (!pin) throw error;
      return { pin, names: [] };
    }
  }

  #isRoot = (relativePath: string): boolean => this.roots.includes(this.#absolute(relativePath));

  #unlessProtected(parts: string[], entry: JailEntry): JailEntry {
    try {
      this.#refuseProtected(parts, entry.relativePath, entry.path);
      return entry;
    } catch (error) {
      entry.close();
      throw error;
    }
  }

  /** A protected name stays closed when a symlink has it, wherever that leads. */
  #refuseProtected(parts: string[], relativePath: string, path: string): void {
    const isPlain = relativePath === '' || relativePath === parts.join('/');
    const isProtected = relativePath !== '' && this.isProtected(relativePath);
    if (isProtected || (!isPlain && this.#way.leadsThrough(this.isProtected, parts))) {
      throw new HostError('protected', path);
    }
  }
}
