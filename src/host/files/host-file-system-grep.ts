/** Finds lines that match a regex, in a file or below a directory, and clips each. */
import { characterStart } from '../text/characters.ts';
import { FileFault } from './file-fault.ts';
import type { FileScope, GrepAnswer, GrepRequest } from './file-system.ts';
import { HostError } from '../host-error.ts';
import type { Jail } from '../jail/jail.ts';
import { openDirectory, openFile } from '../jail/open-unprotected.ts';
import { targetOfFile, type SearchTarget, type SearchRoots } from './search-roots.ts';

/** Larger files are counted and not searched: a file has to fit into memory. */
export const MAX_GREPPED_BYTES = 256 * 2 ** 20;

/** Longest UTF-8 character: a line clipped with this much to spare is longer than the limit. */
const CHARACTER_BYTES = 4;

const ELLIPSIS = '…';

const NOTHING = Buffer.alloc(0);

interface GrepTarget {
  /** Canonical and absolute. */
  readonly path: string;
  readonly kind: 'file' | 'directory';
}

export class HostGrep {
  readonly #jail: Jail;
  readonly #roots: SearchRoots;

  constructor(jail: Jail, roots: SearchRoots) {
    this.#jail = jail;
    this.#roots = roots;
  }

  async run(request: GrepRequest, { signal }: FileScope): Promise<GrepAnswer> {
    const target = this.#find(request.path);
    const { pattern, ignoreCase, maxMatches, maxLineBytes } = request;
    if (target.kind === 'directory' && !request.recursive) {
      // Reports a pattern that does not compile before anything is read.
      await this.#roots.regexes.find({ pattern, ignoreCase, text: NOTHING }, { signal });
      throw new FileFault(
        'bad-request',
        `${request.path} is a directory; set recursive: true to search the files in it`,
      );
    }

    const query = {
      pattern,
      isRegex: true,
      ignoreCase,
      wantsContent: true,
      wantsPaths: false,
      maxMatches,
      maxLineBytes: maxLineBytes + CHARACTER_BYTES,
      contextLines: 0,
    };
    const found = await this.#roots.search(searchTargetOf(target, request), query, { signal });
    const { skipped, isTruncated, filesTooLarge } = found;
    return {
      matches: found.contentMatches.map(({ path, line, text }) => ({ path, line, text: cut(text, maxLineBytes) })),
      isTruncated,
      skipped: target.kind === 'directory' ? skipped : skipped.filter(({ path }) => path === target.path),
      filesTooLarge,
    };
  }

  #find(path: string): GrepTarget {
    try {
      using file = openFile(this.#jail, path);
      return { path: `/${file.relativePath}`, kind: 'file' };
    } catch (error) {
      if (!(error instanceof HostError) || error.reason !== 'not-a-file') throw error;
    }
    using dir = openDirectory(this.#jail, path);
    return { path: `/${dir.relativePath}`, kind: 'directory' };
  }
}

function searchTargetOf({ path, kind }: GrepTarget, request: GrepRequest): SearchTarget {
  if (kind === 'file') return targetOfFile(path);
  const { includeGlobs, excludeGlobs, respectGitignore } = request;
  return {
    directory: path,
    includeGlobs,
    excludeGlobs,
    dialect: 'gitignore',
    isRecursive: true,
    respectGitignore,
  };
}

function cut(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  return bytes.toString('utf8', 0, characterStart(bytes, maxBytes)) + ELLIPSIS;
}
