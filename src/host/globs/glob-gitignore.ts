/**
 * Globs as the lines of a .gitignore file, over the paths of files: a pattern that matches a directory means all below it.
 *
 * Without a `/` but at its end a pattern is about a name at any depth, else about the path from the directory; a `/` at
 * the end means directories only. `!` takes back what patterns before it match, but nothing below a directory that they
 * match. Nothing is a comment.
 */
import { GlobAutomaton } from './glob-automaton.ts';
import { NAME_WILDCARDS } from './glob-segments.ts';
import { BELOW, GlobError, parseGlob, PREFIX, type GlobDialect, type GlobToken } from './glob-syntax.ts';

/** Runs of patterns with and without `!` in one list; a path is decided run by run. */
const MAX_RUNS = 8;

/** A pattern without `!`: which files it means. */
export const parseGitignore: GlobDialect = (pattern) => {
  const { tokens, isForDirs } = parseEntry(pattern);
  return [...tokens, isForDirs ? BELOW : { kind: 'either', branches: [[], [BELOW]] }];
};

export const isNegated = (pattern: string): boolean => pattern.startsWith('!');

/** Patterns that follow each other and all have a `!`, here left out, or all have none. */
export interface PatternRun {
  readonly isNegated: boolean;
  readonly patterns: string[];
}

export function runsOf(patterns: readonly string[]): PatternRun[] {
  const runs: PatternRun[] = [];
  for (const pattern of patterns) {
    const isTakenBack = isNegated(pattern);
    if (runs.at(-1)?.isNegated !== isTakenBack) runs.push({ isNegated: isTakenBack, patterns: [] });
    runs.at(-1)!.patterns.push(isTakenBack ? pattern.slice(1) : pattern);
  }
  const stray = runs[MAX_RUNS];
  if (!stray) return runs;
  const problem = `a list changes between globs with and without ! ${MAX_RUNS} times at most`;
  throw new GlobError(`${stray.isNegated ? '!' : ''}${stray.patterns[0]}`, problem);
}

/** Lists that take something back: each directory on the way to a file is decided, the last pattern that matches first. */
export function compileGitignoreRuns(patterns: readonly string[]): (relativePath: string) => boolean {
  const lastFirst = runsOf(patterns).reverse().map(compileRun);
  const decide = (path: string, isDir: boolean) =>
    lastFirst.find((run) => (isDir ? run.dirs : run.files).matches(path))?.isIn ?? false;
  return (path) => {
    for (let slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1)) {
      if (decide(path.slice(0, slash), true)) return true;
    }
    return decide(path, false);
  };
}

function compileRun({ isNegated: isTakenBack, patterns }: PatternRun) {
  const entries = patterns.map(parseEntry);
  const forFiles = entries.filter(({ isForDirs }) => !isForDirs);
  const [dirs, files] = [entries, forFiles].map((some) => new GlobAutomaton(some.map(({ tokens }) => tokens)));
  return { isIn: !isTakenBack, dirs: dirs!, files: files! };
}

/** What is at the end of a path. Braces stand for themselves. */
function parseEntry(pattern: string): { tokens: GlobToken[]; isForDirs: boolean } {
  const isForDirs = pattern.endsWith('/');
  const text = isForDirs ? pattern.slice(0, -1) : pattern;
  const spelled = text.replace(/^\//, '').replace(/\\.|[{}]/gs, (part) => (part.length > 1 ? part : `\\${part}`));
  const tokens = parseGlob(spelled, NAME_WILDCARDS);
  return { tokens: text.includes('/') ? tokens : [PREFIX, ...tokens], isForDirs };
}
