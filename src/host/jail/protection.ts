/**
 * The configuration key `protect`: globs of files that no file function reaches, relative to the workers' roots.
 *
 * Workers with equal lists share one `Protection`, which applies in all their roots: a file that is protected in one
 * worker's root cannot be reached through another's.
 */
import { ConfigError } from '#contract';
import { GlobError } from '../globs/glob-syntax.ts';
import { escapeGlob } from '../globs/globs.ts';
import { compileProtect, type Matches, type ProtectedGlobs } from './protected-globs.ts';

export class Protection {
  readonly #globs: readonly string[];
  readonly #matches: Matches;
  /** Canonical roots, with the number of workers that use each. */
  readonly #roots = new Map<string, number>();
  /** Each root with a slash at its end. */
  #prefixes: string[] = [];
  /** Cache of `globsFrom` by directory; cleared when the roots change. */
  readonly #lists = new Map<string, ProtectedGlobs[]>();

  constructor(globs: readonly string[]) {
    this.#globs = globs;
    this.#matches = compileProtect(globs);
  }

  get isEmpty(): boolean {
    return this.#globs.length === 0;
  }

  add(root: string): void {
    this.#roots.set(root, (this.#roots.get(root) ?? 0) + 1);
    this.#rootsChanged();
  }

  /** Returns whether no root is left. */
  remove(root: string): boolean {
    const holders = this.#roots.get(root)! - 1;
    if (holders > 0) this.#roots.set(root, holders);
    else this.#roots.delete(root);
    this.#rootsChanged();
    return this.#roots.size === 0;
  }

  /** Whether a canonical absolute path is protected in any root that contains it. */
  covers(path: string): boolean {
    for (const prefix of this.#prefixes) {
      const isBelow = path.length > prefix.length && path.startsWith(prefix);
      if (isBelow && this.#matches(path.slice(prefix.length))) return true;
    }
    return false;
  }

  /** The same for a path relative to a canonical directory. */
  coversIn(directory: string, relativePath: string): boolean {
    if (this.#roots.size === 1 && this.#roots.has(directory)) return relativePath !== '' && this.#matches(relativePath);
    return this.covers(`${directory === '/' ? '' : directory}/${relativePath}`);
  }

  /** The globs relative to a directory; returns the same array until the roots change. */
  globsFrom(directory: string): readonly ProtectedGlobs[] {
    if (this.isEmpty) return NONE;
    const lists =
      this.#lists.get(directory) ?? [...this.#roots.keys()].flatMap((root) => this.#seenFrom(directory, root));
    this.#lists.set(directory, lists);
    return lists;
  }

  #rootsChanged(): void {
    this.#prefixes = [...this.#roots.keys()].map(withSlash);
    this.#lists.clear();
  }

  #seenFrom(directory: string, root: string): ProtectedGlobs[] {
    if (root === directory) return [{ globs: this.#globs }];
    const above = pathBelow(root, directory);
    if (above !== undefined) return [{ globs: this.#globs, above }];
    const below = pathBelow(directory, root);
    return below === undefined ? [] : [{ globs: this.#globs.map((glob) => startingAt(below, glob)) }];
  }
}

const NONE: readonly ProtectedGlobs[] = [];

/** Protections by the JSON of their list. */
const known = new Map<string, Protection>();

/** Adds a root to the protection of a list; `release` removes it again. */
export function protect(globs: readonly string[], root: string): { protection: Protection; release: () => void } {
  const key = JSON.stringify(globs);
  const protection = known.get(key) ?? readable(globs);
  known.set(key, protection);
  protection.add(root);
  return { protection, release: () => void (protection.remove(root) && known.delete(key)) };
}

function readable(globs: readonly string[]): Protection {
  try {
    return new Protection(globs);
  } catch (error) {
    if (!(error instanceof GlobError)) throw error;
    throw new ConfigError(`protect: ${error.message}`, { cause: error });
  }
}

function startingAt(directory: string, glob: string): string {
  const start = escapeGlob(directory);
  return glob.startsWith('!') ? `!${start}/${glob.slice(1)}` : `${start}/${glob}`;
}

/** Undefined if it is not below; a directory is not below itself. */
function pathBelow(root: string, path: string): string | undefined {
  const prefix = withSlash(root);
  return path.length > prefix.length && path.startsWith(prefix) ? path.slice(prefix.length) : undefined;
}

function withSlash(directory: string): string {
  return directory === '/' ? '/' : `${directory}/`;
}
