/**
 * Skips entries that .gitignore files exclude, including those above the start of the walk, and .git itself.
 *
 * Only files of the tree count: neither .git/info/exclude nor the user's settings, so the answer is the same for every
 * user. As in git, nothing in an excluded directory can be included again.
 */
import { closeSync, readSync } from 'node:fs';

import { HostError } from '../../host-error.ts';
import { toBytes, type ByteString } from '../../text/byte-string.ts';
import type { Jail } from '../../jail/jail.ts';
import { walkDirsBelow, type OpenWalkDir, type WalkDir } from '../../walk/walk-dir.ts';
import type { WalkEntry } from '../../walk/walk-entry.ts';
import type { WalkFilter } from '../../walk/walk.ts';
import { parseIgnoreLine, type IgnoreRule } from './ignore-pattern.ts';

const NAME = '.gitignore' as ByteString;

/** Bytes that are read of an ignore file. */
const MAX_BYTES = 262_144;

/** Rules of this many directories are cached; others are read again. */
const MAX_KEPT = 1000;

/** The filter of a walk in any part of the tree. */
export function gitignoreFilter(openDir: OpenWalkDir): WalkFilter {
  const rules = new GitignoreRules(openDir);
  return (dir, entries) => {
    rules.enter(dir, entries);
    return entries.filter((entry) => !rules.isLeftOut(dir.path, entry));
  };
}

/** The same for other listings: whether an entry of a directory, named from the root, is excluded. */
export function gitignoreOf({ roots: [root = '/'], mode, view }: Pick<Jail, 'roots' | 'mode' | 'view'>) {
  const rules = new GitignoreRules(walkDirsBelow(toBytes(root), mode, { view }));
  return (dir: string, entry: WalkEntry): boolean => rules.isLeftOut(toBytes(dir), entry);
}

class GitignoreRules {
  readonly #openDir: OpenWalkDir;
  /** Rules by directory; the last rule first, because it decides. */
  readonly #rules = new Map<string, readonly IgnoreRule[]>();

  constructor(openDir: OpenWalkDir) {
    this.#openDir = openDir;
  }

  enter(dir: WalkDir, entries: readonly WalkEntry[]): void {
    const hasRules = entries.some(({ name, isDir }) => name === NAME && !isDir);
    if (this.#rules.size >= MAX_KEPT) this.#rules.clear();
    this.#rules.set(dir.path, hasRules ? readRules(dir) : []);
  }

  isLeftOut(dir: ByteString, { name, isDir }: WalkEntry): boolean {
    if (isDir && name === '.git') return true;
    const names = [...namesOf(dir), name];
    for (let depth = names.length - 1; depth >= 0; depth--) {
      const rules = this.#rulesIn(names.slice(0, depth).join('/') as ByteString);
      if (rules.length === 0) continue;
      const below = names.slice(depth);
      const rule = rules.find((candidate) => (isDir || !candidate.isForDirs) && candidate.matches(below));
      if (rule) return !rule.isNegated;
    }
    return false;
  }

  #rulesIn(path: ByteString): readonly IgnoreRule[] {
    const known = this.#rules.get(path) ?? this.#readRulesIn(path);
    this.#rules.set(path, known);
    return known;
  }

  /** Empty for a directory that was removed meanwhile. */
  #readRulesIn(path: ByteString): readonly IgnoreRule[] {
    let dir: WalkDir | undefined;
    try {
      dir = this.#openDir(path);
      return readRules(dir);
    } catch (error) {
      HostError.fromErrno(error, '');
      return [];
    } finally {
      dir?.close();
    }
  }
}

function namesOf(path: ByteString): string[] {
  return path === '' ? [] : path.split('/');
}

/** Empty when there is no such file, or it cannot be read. */
function readRules(dir: WalkDir): IgnoreRule[] {
  let fd: number | undefined;
  try {
    fd = dir.openFile(NAME);
    const bytes = Buffer.alloc(MAX_BYTES);
    const length = readSync(fd, bytes, 0, MAX_BYTES, null);
    const lines = bytes
      .toString('latin1', 0, length)
      .replace(/^\xef\xbb\xbf/, '')
      .split('\n');
    return lines.flatMap((line) => parseIgnoreLine(line) ?? []).reverse();
  } catch (error) {
    HostError.fromErrno(error, '');
    return [];
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
