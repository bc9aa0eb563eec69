/**
 * The list `protect`: which files no file function reaches, as globs over paths from a directory that workers work in.
 *
 * One for each list in a process. It holds in every such directory for all workers, so that what one worker cannot reach
 * from its root is not to be had through the root of another.
 */
import { ConfigError } from '#contract';
import { GlobError } from '../globs/glob-syntax.ts';
import { escapeGlob } from '../globs/globs.ts';
import { compileProtect, type Matches, type ProtectedGlobs } from './protected-globs.ts';

export class Protection {
  readonly #globs: readonly string[];
  readonly #matches: Matches;
  /** Canonical directories, with the number of their holders. */
  readonly #roots = new Map<string, number>();
  /** For each directory that was asked for; forgotten when there are others to know of. */
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
    this.#lists.clear();
  }

  /** Whether nobody has any directory any more. */
  remove(root: string): boolean {
    const holders = this.#roots.get(root)! - 1;
    if (holders > 0) this.#roots.set(root, holders);
    else this.#roots.delete(root);
    this.#lists.clear();
    return this.#roots.size === 0;
  }

  /** Whether a canonical absolute path is protected, seen from any of the directories it lies in. */
  covers(path: string): boolean {
    for (const root of this.#roots.keys()) {
      const below = pathBelow(root, path);
      if (below !== undefined && this.#matches(below)) return true;
    }
    return false;
  }

  /** The same for paths from a directory; the same array as long as nothing changes. */
  globsFrom(directory: string): readonly ProtectedGlobs[] {
    if (this.isEmpty) return NONE;
    const lists =
      this.#lists.get(directory) ?? [...this.#roots.keys()].flatMap((root) => this.#seenFrom(directory, root));
    this.#lists.set(directory, lists);
    return lists;
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

/** By the text of the list. */
const known = new Map<string, Protection>();

/** The protection of a list, which knows of one more directory until that is given up. */
export function protect(globs: readonly string[], root: string): { protection: Protection; giveUp: () => void } {
  const key = JSON.stringify(globs);
  const protection = known.get(key) ?? readable(globs);
  known.set(key, protection);
  protection.add(root);
  return { protection, giveUp: () => void (protection.remove(root) && known.delete(key)) };
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

/** Undefined when it is not below; a directory is not below itself. */
function pathBelow(root: string, path: string): string | undefined {
  const prefix = root === '/' ? '/' : `${root}/`;
  return path.length > prefix.length && path.startsWith(prefix) ? path.slice(prefix.length) : undefined;
}
