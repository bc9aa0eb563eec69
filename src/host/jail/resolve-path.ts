/**
 * Resolves a path from the wire, or reports why it cannot be resolved.
 *
 * The reason reveals nothing about files outside. A relative path that leaves the root at any step is an escape, even if
 * it would return; an absolute path starts outside, so only its end counts.
 */
import { lstatSync } from 'node:fs';
import { isAbsolute } from 'node:path';

import { toBytes } from '../text/byte-string.ts';
import { HostError } from '../host-error.ts';
import { resolvesThrough } from './pin-shown.ts';
import { pathInside, type Pin, type PinPath } from './pin.ts';

/** PATH_MAX; also bounds the work that `..` can cause. */
const MAX_PATH_BYTES = 4096;

/** How paths are spelled: relative to the root, or absolute. */
export type Spelling =
  | { kind: 'relative' }
  /** `from` is the base of relative paths, which are refused without it. `anywhere` pins inside and outside. */
  | { kind: 'absolute'; from?: string; anywhere: PinPath };

export class PathResolver {
  readonly #pinPath: PinPath;
  readonly #spelling: Spelling;

  constructor(pinPath: PinPath, spelling: Spelling) {
    this.#pinPath = pinPath;
    this.#spelling = spelling;
  }

  /** The names in a path, with `.` and `..` resolved. */
  parse(path: string): string[] {
    if (path.includes('\0') || Buffer.byteLength(path) > MAX_PATH_BYTES) throw new HostError('invalid-name', path);

    let parts: string[] = [];
    for (const name of this.#whole(path).split('/')) {
      if (name === '..') parts = this.#parentOf(parts, path);
      else if (name !== '' && name !== '.') parts.push(name);
    }
    return parts;
  }

  #whole(path: string): string {
    if (this.#spelling.kind === 'relative') {
      if (isAbsolute(path)) throw new HostError('absolute', path);
      return path;
    }
    if (isAbsolute(path)) return path;
    if (this.#spelling.from === undefined) throw new HostError('relative', path);
    return `${this.#spelling.from}/${path}`;
  }

  /** Resolves `..`: the parent of the real directory, or of the name if it does not exist. */
  #parentOf(parts: string[], path: string): string[] {
    if (this.#spelling.kind === 'absolute') return (realNames(this.#spelling.anywhere, parts) ?? parts).slice(0, -1);

    const names = this.#realNames(parts, path);
    if (names.length === 0) throw new HostError('escape', path);
    return names.slice(0, -1);
  }

  #realNames(parts: string[], path: string): string[] {
    try {
      return this.namesOf(parts, path);
    } catch (error) {
      if (!(error instanceof HostError) || error.reason === 'escape' || error.reason === 'dangling') throw error;
      return parts;
    }
  }

  /** The canonical names that the parts resolve to. */
  namesOf(parts: string[], path: string): string[] {
    return namesIn(this.pin(parts, path));
  }

  /** The names of an absolute path, canonical as far as it exists, inside or not. For messages only. */
  lastNames(path: string): string[] {
    const parts = this.parse(path);
    if (this.#spelling.kind === 'relative') return parts;
    for (let depth = parts.length; depth > 0; depth--) {
      const names = realNames(this.#spelling.anywhere, parts.slice(0, depth));
      if (names) return [...names, ...parts.slice(depth)];
    }
    return parts;
  }

  pin(parts: string[], path: string): Pin {
    let pin: Pin | undefined;
    try {
      pin = this.#pinPath(parts);
    } catch (error) {
      throw this.#explain(error, parts, path);
    }
    if (!pin) throw new HostError('escape', path);
    return pin;
  }

  /** Whether any part of a path satisfies `isSuch`. */
  resolvesThrough(isSuch: (relativePath: string) => boolean, parts: readonly string[]): boolean {
    return resolvesThrough(isSuch, parts, this.#pinPath);
  }

  /** Pins the resolved path of the parts if it is wanted. */
  pinIf(isWanted: (relativePath: string) => boolean, parts: string[]): Pin | undefined {
    try {
      const pin = this.#pinPath(parts);
      if (pin && isWanted(pin.relativePath)) return pin;
      pin?.close();
    } catch {
      // A path that does not exist is not wanted.
    }
    return undefined;
  }

  /** Pins the deepest existing part of the path; `depth` is its number of names. */
  nearest(parts: string[], path: string): { pin: Pin; depth: number } {
    for (let depth = parts.length; ; depth--) {
      let pin: Pin | undefined;
      try {
        pin = this.#pinPath(parts.slice(0, depth));
      } catch (error) {
        if (depth === 0) throw HostError.fromErrno(error, path);
        continue;
      }
      if (!pin) throw new HostError('escape', path);

      const next = parts[depth];
      if (next === undefined || isHidden(pin, next) || !isSymlink(pin.at(toBytes(next)))) return { pin, depth };
      pin.close();
      throw new HostError('dangling', path);
    }
  }

  /** The reason of a failure: an escape or a dangling symlink in the existing part, else the errno. */
  #explain(error: unknown, parts: string[], path: string): HostError {
    try {
      this.nearest(parts, path).pin.close();
    } catch (nearer) {
      if (nearer instanceof HostError && (nearer.reason === 'escape' || nearer.reason === 'dangling')) return nearer;
    }
    return HostError.fromErrno(error, path);
  }
}

function realNames(pinPath: PinPath, parts: string[]): string[] | undefined {
  try {
    const pin = pinPath(parts);
    return pin && namesIn(pin);
  } catch {
    return undefined;
  }
}

function namesIn(pin: Pin): string[] {
  pin.close();
  return pin.relativePath.split('/').filter((name) => name !== '');
}

function isHidden(pin: Pin, name: string): boolean {
  return pin.isHidden?.(pathInside(pin.relativePath, toBytes(name))) ?? false;
}

function isSymlink(path: Buffer): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}
