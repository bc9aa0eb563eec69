/**
 * Confines file access to one or several directories: resolves a path from the wire to a handle, or refuses.
 *
 * Only this and `resolve-path.ts` decide containment. It is decided by name: a hard link to a file from elsewhere
 * is a file of this directory.
 */
import { isUtf8 } from 'node:buffer';
import { statSync } from 'node:fs';

import { toBytes, toText, type ByteString } from '../text/byte-string.ts';
import { HostError } from '../host-error.ts';
import { JailDir } from './jail-dir.ts';
import { JailEntry } from './jail-entry.ts';
import { JailFile } from './jail-file.ts';
import { openAtOnceWithin, type OpenAtOnce } from './jail-open.ts';
import { PathResolver, type Spelling } from './resolve-path.ts';
import { canPinByDescriptor, pinByDescriptor } from './pin-by-descriptor.ts';
import { pinByPath, realPath } from './pin-by-path.ts';
import { pinShown } from './pin-shown.ts';
import { boundsOf, EVERYTHING, prefixOf, type Bounds, type Pin } from './pin.ts';
import type { View } from '../layers/layer.ts';
import { systemCalls, type SystemCalls } from '../system/system-calls.ts';

/** How the jail ensures that the object it checked is the one it opens; see `pin.ts`. */
export type JailMode = 'descriptor' | 'portable';

/** Whether a path without symlinks is opened directly (`jail-open.ts`), or every path is resolved first. */
export type JailOpening = 'at-once' | 'after-finding';

/** Overrides the best choice that the system supports. */
export interface JailChoice {
  mode?: JailMode;
  opening?: JailOpening;
}

export interface JailOptions extends JailChoice {
  /** Canonical paths, in the form of `relativePath`, that `open`, `target` and `entry` refuse. */
  isProtected?: (relativePath: string) => boolean;
  /** Canonical paths that look missing and cannot be created. */
  isHidden?: (relativePath: string) => boolean;
  /** The mount through which the only directory is used; needs descriptors. */
  view?: View | undefined;
}

/** Retries when another process replaces symlinks while they are resolved. */
const ATTEMPTS = 8;

/** A jail on one directory, resolved now. Throws if it does not exist. */
export function openJail(root: string, options: JailOptions = {}): Jail {
  return new Jail([options.view ? toBytes(root) : canonicalRoot(root)], 'relative', options);
}

/**
 * A jail on several directories that takes absolute paths; `relativePath` is then relative to `/`. With `from`, one of the
 * directories, it also takes paths relative to that.
 */
export function openAbsoluteJail(roots: readonly string[], options: JailOptions & { from?: string } = {}): Jail {
  return new Jail(roots.map(options.view ? toBytes : canonicalRoot), 'absolute', options);
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
  /** Canonical root directories. */
  readonly roots: readonly string[];
  readonly isProtected: (relativePath: string) => boolean;
  /** The mount of its directories, unless it is that of this process. */
  readonly view: View | undefined;
  readonly #isHidden: JailOptions['isHidden'];
  /** Prefix that makes a `relativePath` absolute. */
  readonly #prefix: string;
  readonly #isRelative: boolean;
  readonly #resolver: PathResolver;
  /** Returns undefined where every path is resolved first. */
  readonly #callsToUse: () => SystemCalls | undefined;
  readonly #openAtOnce: OpenAtOnce;

  constructor(roots: ByteString[], spelling: Spelling['kind'], options: JailOptions & { from?: string }) {
    const { view } = options;
    this.view = view;
    this.mode = view ? 'descriptor' : (options.mode ?? (roots.every(canPinByDescriptor) ? 'descriptor' : 'portable'));
    const mayOpenAtOnce = this.mode === 'descriptor' && options.opening !== 'after-finding';
    const callsToUse = mayOpenAtOnce ? systemCalls : () => undefined;
    const { isHidden, isProtected = () => false } = options;
    const pinWithin = (within: Bounds) =>
      pinShown(this.mode === 'descriptor' ? pinByDescriptor(within, callsToUse) : pinByPath(within), within);
    const isRelative = spelling === 'relative';
    const bounds = { ...boundsOf(isRelative ? roots[0]! : ('/' as ByteString), roots), isHidden, view };
    this.#prefix = prefixOf(bounds.start);
    this.#isRelative = isRelative;
    this.#resolver = new PathResolver(
      pinWithin(bounds),
      isRelative
        ? { kind: spelling }
        : { kind: spelling, from: options.from, anywhere: pinWithin({ ...EVERYTHING, isHidden, view }) },
    );
    this.roots = roots.map(toText);
    this.isProtected = isProtected;
    this.#isHidden = isHidden;
    this.#callsToUse = callsToUse;
    // openat2 without symlinks also refuses the path through a descriptor, which a view needs.
    this.#openAtOnce = view ? () => undefined : openAtOnceWithin(bounds, callsToUse);
  }

  get opening(): JailOpening {
    return this.#callsToUse() ? 'at-once' : 'after-finding';
  }

  /** Opens a regular file for reading. */
  open(path: string): JailFile {
    const parts = this.#resolver.parse(path);
    return this.#openAtOnce({ parts, path, isClosed: this.isClosed }) ?? this.#openFound(parts, path);
  }

  #openFound(parts: string[], path: string): JailFile {
    const pin = this.#pinFile(parts, path);
    try {
      // Checked first, so that the error for a protected path does not depend on its kind.
      this.#refuseProtected(parts, pin.relativePath, path);
      return JailFile.of(pin, path);
    } catch (error) {
      throw HostError.fromErrno(error, path);
    } finally {
      pin.close();
    }
  }

  /** Reports `protected` instead of a reason that would reveal the type of a protected path. */
  #pinFile(parts: string[], path: string): Pin {
    try {
      return this.#resolver.pin(parts, path);
    } catch (error) {
      const isRevealing = error instanceof HostError && error.reason !== 'missing';
      if (isRevealing && this.#resolver.resolvesThrough(this.isProtected, parts))
        throw new HostError('protected', path);
      throw error;
    }
  }

  /** Pins a directory for listing. Protection does not apply: names in it may be listed, not read. */
  openDir(path: string): JailDir {
    return JailDir.of(this.#resolver.pin(this.#resolver.parse(path), path), path);
  }

  /** The entry that a write to the path changes: follows symlinks, also the last one. It need not exist. */
  target(path: string): JailEntry {
    let parts = this.#resolver.parse(path);
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const entry = this.#entry(parts, path);
      const isEnd = !entry.stat?.isSymbolicLink() || this.isProtected(entry.relativePath);
      if (isEnd) return this.#unlessProtected(parts, entry);

      entry.close();
      parts = this.#resolver.namesOf(parts, path);
      // A name that is not valid UTF-8 cannot be passed on as text: it would name another file.
      if (parts.some((name) => name.includes('\uFFFD'))) throw new HostError('invalid-name', path);
    }
    throw new HostError('dangling', path);
  }

  /** The entry that the path names: follows symlinks in parents, not the last one. */
  entry(path: string): JailEntry {
    const parts = this.#resolver.parse(path);
    return this.#unlessProtected(parts, this.#entry(parts, path));
  }

  /** The reason to refuse a canonical path; undefined if it may be touched. */
  refusal = (relativePath: string): 'protected' | 'hidden' | undefined => {
    if (this.isProtected(relativePath)) return 'protected';
    return this.#isHidden?.(relativePath) ? 'hidden' : undefined;
  };

  isClosed = (relativePath: string): boolean => this.refusal(relativePath) !== undefined;

  /** How this jail spells a canonical path. */
  spell = ({ relativePath }: Pick<JailEntry, 'relativePath'>): string =>
    this.#isRelative ? relativePath : `/${relativePath}`;

  /** A key for locks: equal for all paths to one entry, in every jail. */
  keyOf = ({ relativePath }: JailEntry): string => this.#absolute(relativePath);

  /** The absolute path with symlinks resolved as far as they exist, inside or not. For messages only. */
  resolveTarget(path: string): string {
    return this.#absolute(this.#resolver.lastNames(path).join('/'));
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

  /** Pins the deepest existing parent and returns the remaining names; pins a root itself. */
  #nearestParent(parts: string[], path: string): { pin: Pin; names: string[] } {
    try {
      const { pin, depth } = this.#resolver.nearest(parts.slice(0, -1), path);
      return { pin, names: parts.slice(depth) };
    } catch (error) {
      const pin = this.#resolver.pinIf(this.#isRoot, parts);
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

  /** Refuses a protected name also when it is a symlink, whatever its target. */
  #refuseProtected(parts: string[], relativePath: string, path: string): void {
    const isPlain = relativePath === '' || relativePath === parts.join('/');
    const isProtected = relativePath !== '' && this.isProtected(relativePath);
    if (isProtected || (!isPlain && this.#resolver.resolvesThrough(this.isProtected, parts))) {
      throw new HostError('protected', path);
    }
  }
}
