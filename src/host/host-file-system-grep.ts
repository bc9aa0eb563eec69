/**
 * Lines that match a regex, in a file or below a directory, by the search engine of the root that holds it.
 *
 * An engine is made when its root is first searched. Each knows paths from its own root, so answers are put together
 * again here.
 */
import { basename, dirname } from 'node:path';

import { escapeGlob, type DeniedPaths } from './denied-paths.ts';
import { FileFault } from './file-fault.ts';
import type { FileScope, GrepAnswer, GrepRequest } from './file-system.ts';
import { HostError } from './host-error.ts';
import { openJail, type Jail } from './jail.ts';
import { openDirectory, openFile } from './open-undenied.ts';
import type { RegexThreads } from './regex/index.ts';
import { SearchEngine, type SearchRequest } from './search/index.ts';

/** Larger files are counted and not searched: they have to fit into memory. */
const MAX_FILE_BYTES = 256 * 2 ** 20;

const INDEX_MEMORY_BYTES = 256 * 2 ** 20;

/** A character takes no more, so a line that was cut here is longer than what may be shown. */
const CHARACTER_BYTES = 4;

const ELLIPSIS = '…';

const NOTHING = Buffer.alloc(0);

interface Place {
  /** Canonical and absolute. */
  readonly path: string;
  readonly kind: 'file' | 'directory';
}

export class HostGrep {
  readonly #jail: Jail;
  readonly #denied: DeniedPaths;
  readonly #regexes: RegexThreads;
  readonly #engines = new Map<string, SearchEngine>();

  constructor(jail: Jail, denied: DeniedPaths, regexes: RegexThreads) {
    this.#jail = jail;
    this.#denied = denied;
    this.#regexes = regexes;
  }

  async run(request: GrepRequest, { signal }: FileScope): Promise<GrepAnswer> {
    const place = this.#find(request.path);
    const { pattern, ignoreCase, maxMatches, maxLineBytes } = request;
    if (place.kind === 'directory' && !request.recursive) {
      // A pattern that cannot be read is told first.
      await this.#regexes.find({ pattern, ignoreCase, text: NOTHING }, { signal });
      throw new FileFault('bad-request', `${request.path} is a directory; it is searched when recursive is true`);
    }

    const root = this.#rootOf(place.path);
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
    const found = await this.#engineFor(root).search({ query, ...whereIn(root, place, request) }, { signal });
    const absolute = (path: string) => join(root, path);
    const skipped = found.skipped.map(({ path, reason }) => ({ path: absolute(path), reason }));
    return {
      matches: found.contentMatches.map(({ path, line, text }) => ({
        path: absolute(path),
        line,
        text: cut(text, maxLineBytes),
      })),
      isTruncated: found.isTruncated,
      skipped: place.kind === 'directory' ? skipped : skipped.filter(({ path }) => path === place.path),
      filesTooLarge: found.filesTooLarge,
    };
  }

  close(): void {
    for (const engine of this.#engines.values()) engine.close();
  }

  #find(path: string): Place {
    try {
      using file = openFile(this.#jail, path);
      return { path: `/${file.relativePath}`, kind: 'file' };
    } catch (error) {
      if (!(error instanceof HostError) || error.reason !== 'not-a-file') throw error;
    }
    using dir = openDirectory(this.#jail, path);
    return { path: `/${dir.relativePath}`, kind: 'directory' };
  }

  /** Of roots inside each other, the inner one. */
  #rootOf(path: string): string {
    const holding = this.#jail.roots.filter((root) => path === root || path.startsWith(join(root, '')));
    return holding.toSorted((a, b) => b.length - a.length)[0]!;
  }

  #engineFor(root: string): SearchEngine {
    const made = this.#engines.get(root);
    if (made) return made;

    const { mode } = this.#jail;
    const engine = new SearchEngine(openJail(root, { mode }), {
      root,
      protectedGlobs: this.#denied.globsFrom(root),
      // A whole system is more than anyone wants in memory.
      index: root === '/' ? 'off' : 'auto',
      indexMemoryBytes: INDEX_MEMORY_BYTES,
      maxFileBytes: MAX_FILE_BYTES,
    });
    this.#engines.set(root, engine);
    return engine;
  }
}

/** A file is searched as the one file of its directory that is wanted. */
function whereIn(root: string, { path, kind }: Place, request: GrepRequest): Omit<SearchRequest, 'query'> {
  const folder = kind === 'directory' ? path : dirname(path);
  const below = folder === root ? '' : folder.slice(join(root, '').length);
  if (kind === 'directory') {
    const { includeGlobs, excludeGlobs } = request;
    return { path: below || '.', includeGlobs, excludeGlobs, globOptions: { dialect: 'plain-segments', below } };
  }
  return {
    path: below || '.',
    includeGlobs: [`/${escapeGlob(basename(path))}`],
    excludeGlobs: [],
    globOptions: { dialect: 'segments', below },
    isRecursive: false,
  };
}

function join(root: string, path: string): string {
  return root === '/' ? `/${path}` : `${root}/${path}`;
}

function cut(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes;
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end) + ELLIPSIS;
}
