/**
 * Leaves out of a walk what .gitignore files say, those above the start of the walk included, and .git itself.
 *
 * Files of the tree only: neither .git/info/exclude nor the user's own settings, so the answer is the same for
 * everyone. As in git, nothing in a directory that is left out can be taken back.
 */
import { closeSync, readSync } from 'node:fs';

import { HostError } from '../host-error.ts';
import type { ByteString } from '../byte-string.ts';
import type { OpenWalkDir, WalkDir } from '../walk-dir.ts';
import type { WalkEntry } from '../walk-list.ts';
import type { WalkFilter } from '../walk.ts';
import { parseIgnoreLine, type IgnoreRule } from './ignore-pattern.ts';

const NAME = '.gitignore' as ByteString;

/** More than this of a file is not read. */
const MAX_BYTES = 262_144;

interface Level {
  depth: number;
  /** The last first: it decides. */
  rules: IgnoreRule[];
}

export class GitignoreFilter implements WalkFilter {
  readonly #levels: Level[] = [];

  /** Takes the rules of the directories above the one where the walk will start. */
  constructor(openDir: OpenWalkDir, start: ByteString) {
    const names = namesOf(start);
    for (let depth = 0; depth < names.length; depth++) {
      const dir = openDir(names.slice(0, depth).join('/') as ByteString);
      try {
        this.#levels.push({ depth, rules: readRules(dir) });
      } finally {
        dir.close();
      }
    }
  }

  enter(dir: WalkDir, entries: readonly WalkEntry[]): void {
    const hasRules = entries.some(({ name, isDir }) => name === NAME && !isDir);
    this.#levels.push({ depth: namesOf(dir.path).length, rules: hasRules ? readRules(dir) : [] });
  }

  leave(): void {
    this.#levels.pop();
  }

  isLeftOut(dir: WalkDir, { name, isDir }: WalkEntry): boolean {
    if (isDir && name === '.git') return true;
    const names = [...namesOf(dir.path), name];
    for (const { depth, rules } of this.#levels.toReversed()) {
      if (rules.length === 0) continue;
      const below = names.slice(depth);
      const rule = rules.find((candidate) => (isDir || !candidate.isForDirs) && candidate.matches(below));
      if (rule) return !rule.isNegated;
    }
    return false;
  }
}

function namesOf(path: ByteString): string[] {
  return path === '' ? [] : path.split('/');
}

/** None when there is no such file, or none that can be read. */
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
