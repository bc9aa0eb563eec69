/**
 * Absolute paths that nothing may touch, nor anything below them.
 *
 * A path is meant as it is spelled, with the links on the way followed, and as what it leads to itself. One that is not
 * there yet is meant too.
 */
import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

import { escapeGlob } from '../globs/globs.ts';

export class DeniedPaths {
  /** Canonical, without the first `/`. */
  readonly #paths: readonly string[];

  constructor(paths: readonly string[]) {
    this.#paths = [...new Set(paths.flatMap(spellings))].map((path) => path.slice(1));
  }

  /** Whether a canonical path, without its first `/`, is one of them or below one. */
  covers = (path: string): boolean => this.#paths.some((denied) => isAtOrBelow(path, denied));

  /** The same as globs over paths from a canonical directory. */
  globsFrom(root: string): string[] {
    const start = root.slice(1);
    return this.#paths.flatMap((denied) => {
      if (isAtOrBelow(start, denied)) return ['**'];
      if (!isAtOrBelow(denied, start)) return [];
      const glob = escapeGlob(denied.slice(start === '' ? 0 : start.length + 1));
      return [glob, `${glob}/**`];
    });
  }
}

function isAtOrBelow(path: string, above: string): boolean {
  return above === '' || path === above || path.startsWith(`${above}/`);
}

function spellings(path: string): string[] {
  const whole = resolve('/', path);
  return [join(realPathSoFar(dirname(whole)), basename(whole)), realPathSoFar(whole)];
}

/** The canonical path as far as there is something, and the names that lead on. */
function realPathSoFar(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path === '/' ? path : join(realPathSoFar(dirname(path)), basename(path));
  }
}
