/**
 * Absolute paths that no file function may touch, with everything below them.
 *
 * Each path is denied twice: as spelled (with the symlinks in its parent resolved) and as its target. A path that does
 * not exist yet is denied too.
 */
import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

import { escapeGlob } from '../globs/globs.ts';

export class DeniedPaths {
  /** Canonical paths without the leading `/`. */
  readonly #paths: readonly string[];

  constructor(paths: readonly string[]) {
    this.#paths = [...new Set(paths.flatMap(spellings))].map((path) => path.slice(1));
  }

  /** Whether a canonical path, without its leading `/`, is denied or below a denied one. */
  covers = (path: string): boolean => this.#paths.some((denied) => isAtOrBelow(path, denied));

  /** The denied paths as globs, relative to a canonical directory. */
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

/** Resolves as much of the path as exists and appends the rest unchanged. */
function realPathSoFar(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path === '/' ? path : join(realPathSoFar(dirname(path)), basename(path));
  }
}
