/**
 * The way from a path of the wire to what it leads to, and the reason when it leads nowhere.
 *
 * A reason tells nothing of the world outside. A relative way that leaves the root at any step is an escape, whatever
 * exists out there and wherever it would have come back; an absolute one starts outside, so only its end counts.
 */
import { lstatSync } from 'node:fs';
import { isAbsolute } from 'node:path';

import { toBytes } from '../text/byte-string.ts';
import { HostError } from '../host-error.ts';
import { leadsThrough } from './pin-shown.ts';
import { pathInside, type Pin, type PinPath } from './pin.ts';

/** The longest path the kernel takes, which also bounds the work that `..` can cause. */
const MAX_PATH_BYTES = 4096;

/** How paths are spelled: from the root, or from `/` with the rest of the world before the fence. */
export type Spelling =
  | { kind: 'relative' }
  /** `from`: what a relative path starts at; without it such a path is refused. `anywhere` pins without a fence. */
  | { kind: 'absolute'; from?: string; anywhere: PinPath };

export class JailWay {
  readonly #pinPath: PinPath;
  readonly #spelling: Spelling;

  constructor(pinPath: PinPath, spelling: Spelling) {
    this.#pinPath = pinPath;
    this.#spelling = spelling;
  }

  /** The names a path consists of, without `.` and `..`. */
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

  /** Where `..` leads: to the parent of the real directory, or of the name where nothing is there. */
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

  /** The canonical names of what the parts lead to. */
  namesOf(parts: string[], path: string): string[] {
    return namesIn(this.pin(parts, path));
  }

  /** The canonical names an absolute path leads to, inside or not, as far as it leads: for messages, never for use. */
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

  /** Whether one of the paths on the way is such a one. */
  leadsThrough(isSuch: (relativePath: string) => boolean, parts: readonly string[]): boolean {
    return leadsThrough(isSuch, parts, this.#pinPath);
  }

  /** Holds what the parts lead to if its path from the start is such a one. */
  pinIf(isWanted: (relativePath: string) => boolean, parts: string[]): Pin | undefined {
    try {
      const pin = this.#pinPath(parts);
      if (pin && isWanted(pin.relativePath)) return pin;
      pin?.close();
    } catch {
      // Nothing is there, so nothing that is wanted.
    }
    return undefined;
  }

  /** As far as the way leads somewhere, held, and how many names that takes. */
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

  /** Why the system did not get there, judged from as far as it does get. */
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
