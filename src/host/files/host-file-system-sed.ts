/**
 * Replaces text in files line by line: only matches change, and a file without a match is not written.
 *
 * A line is searched without its line ending, so no pattern matches across lines and `$` is the end of a line. Every
 * path, the pattern and the replacement are checked before the first file is changed.
 */
import { FileFault } from './file-fault.ts';
import type { Below, FileScope, SedRequest, SedResult } from './file-system.ts';
import { compileGlobs } from '../globs/globs.ts';
import { HostError } from '../host-error.ts';
import type { Caller, JailChanges } from '../changes/jail-changes.ts';
import type { JailEntry } from '../jail/jail-entry.ts';
import { visitBelow } from '../jail/jail-list.ts';
import type { Jail } from '../jail/jail.ts';
import { MAX_FILE_BYTES, problemOfFile, readText, SedSet, type Replace } from './host-file-system-sed-set.ts';
import type { RegexThreads } from '../regex/index.ts';
import { Turns } from '../search/turns.ts';
import { TimeLimit } from '../system/time-limit.ts';

/** Most files of one call; each has a row in the answer. */
const MAX_FILES = 100_000;

const NOTHING = Buffer.alloc(0);

const TURN_MS = 5;

type Edit = Omit<SedRequest, 'where'>;

export class HostSed {
  readonly #jail: Jail;
  readonly #changes: JailChanges;
  readonly #regexes: RegexThreads;
  readonly #maxBytes: number;
  readonly #timeoutMs: number | undefined;

  constructor(
    jail: Jail,
    changes: JailChanges,
    regexes: RegexThreads,
    { maxWriteBytes, timeoutMs }: { maxWriteBytes: number; timeoutMs?: number },
  ) {
    this.#jail = jail;
    this.#changes = changes;
    this.#regexes = regexes;
    this.#timeoutMs = timeoutMs;
    this.#maxBytes = Math.min(maxWriteBytes, MAX_FILE_BYTES);
  }

  async run({ where, ...edit }: SedRequest, { signal, noteChange, call, functionId }: FileScope): Promise<SedResult[]> {
    const turns = new Turns(signal, TURN_MS);
    const files = 'files' in where ? where.files : await this.#found(where, { signal });
    if (files.length > MAX_FILES) throw new FileFault('bad-request', `more than ${MAX_FILES} files; name fewer`);
    if ('files' in where) await this.#check(files, turns);
    using limit = new TimeLimit(this.#timeoutMs, signal);
    const replace = this.#replacing(edit, limit.signal);
    await replace(NOTHING);

    const scope = { signal, noteChange, call, functionId };
    if (files.length > 1 && this.#changes.journalOf(files[0]!)?.isAvailable) {
      return await new SedSet(this.#jail, this.#changes, replace).run(files, scope, turns);
    }
    const caller = { ...scope, throwIfAborted: () => signal.throwIfAborted() };
    const results: SedResult[] = [];
    for (const path of files) {
      results.push(await this.#edit(path, replace, caller));
      if (turns.isOver) await turns.next();
    }
    return results;
  }

  #replacing({ pattern, replacement, isRegex, firstOnly, ignoreCase }: Edit, signal: AbortSignal): Replace {
    if (!isRegex && pattern === '') throw new FileFault('bad-request', 'a literal pattern must not be empty');
    const task = {
      pattern: isRegex ? pattern : escapeRegex(pattern),
      replacement: isRegex ? replacement : replacement.replaceAll('$', '$$$$'),
      ignoreCase,
      unit: 'line',
      limit: firstOnly ? 1 : undefined,
      maxBytes: this.#maxBytes,
    } as const;
    return (text) => this.#regexes.replace({ ...task, text }, { signal });
  }

  /** A missing file fails by itself; a file that may not be touched fails the call. */
  async #check(files: readonly string[], turns: Turns): Promise<void> {
    for (const path of files) {
      this.#jail.target(path).close();
      if (turns.isOver) await turns.next();
    }
  }

  /** Every regular file selected, sorted by name. */
  async #found({ path, recursive, ...globs }: { path: string } & Below, scope: FileScope): Promise<string[]> {
    using target = this.#jail.target(path);
    if (!target.stat) throw new HostError('missing', path);
    if (!target.stat.isDirectory()) return [path];
    if (!recursive) {
      throw new FileFault('bad-request', `${path} is a directory; set recursive: true to edit the files in it`);
    }

    using dir = this.#jail.openDir(path);
    const isMeant = compileMeant(dir.relativePath, globs);
    const files: string[] = [];
    await visitBelow(dir, scope, (parent, { name, kind }) => {
      const found = parent.pathOf(name);
      if (this.#jail.isProtected(found)) return 'pass';
      if (kind === 'file' && isMeant(found)) files.push(`/${found}`);
      return files.length > MAX_FILES ? 'stop' : 'go-on';
    });
    return files;
  }

  async #edit(path: string, replace: Replace, caller: Caller): Promise<SedResult> {
    try {
      const work = (target: JailEntry) => this.#replaceIn(target, replace);
      return { path, ...(await this.#changes.onTarget(path, caller, work)) };
    } catch (error) {
      return { path, replacements: 0, problem: problemOfFile(error) };
    }
  }

  async #replaceIn(target: JailEntry, replace: Replace): Promise<Omit<SedResult, 'path'>> {
    const { bytes, count } = await replace(await readText(target));
    return { replacements: count, ...(count > 0 && (await this.#changes.write(target, bytes))) };
  }
}

function compileMeant(below: string, { includeGlobs, excludeGlobs }: Omit<Below, 'recursive'>) {
  const options = { dialect: 'gitignore', below } as const;
  const isIncluded = includeGlobs.length === 0 ? () => true : compileGlobs(includeGlobs, options);
  const isExcluded = compileGlobs(excludeGlobs, options);
  return (path: string) => isIncluded(path) && !isExcluded(path);
}

function escapeRegex(literal: string): string {
  return literal.replace(/[\\.+*?()|[\]{}^$#&~-]/g, '\\$&');
}
