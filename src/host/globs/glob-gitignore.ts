/**
 * Globs as the lines of a .gitignore file, matched against paths of files: a pattern that matches a directory matches
 * everything below it.
 *
 * A pattern without a `/`, except at its end, matches a name at any depth; any other matches the path from the
 * directory; a `/` at the end matches directories only. `!` cancels the matches of earlier patterns, but nothing below
 * a directory that they match. There are no comments.
 */
import { GlobAutomaton } from './glob-automaton.ts';
import { NAME_WILDCARDS } from './glob-segments.ts';
import { BELOW, GlobError, parseGlob, PREFIX, type GlobDialect, type GlobToken } from './glob-syntax.ts';

/** Most runs of patterns with and without `!` in one list; a path is decided run by run. */
const MAX_RUNS = 8;

/** The files that a pattern without `!` matches. */
export const parseGitignore: GlobDialect = (pattern) => {
  const { tokens, isForDirs } = parseEntry(pattern);
  return [...tokens, isForDirs ? BELOW : { kind: 'either', branches: [[], [BELOW]] }];
};

export const isNegated = (pattern: string): boolean => pattern.startsWith('!');

/** Consecutive patterns that all had a `!`, removed here, or all had none. */
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

/** Lists with `!`: decides each directory on the path to a file, the last matching pattern first. */
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

/** Matches the entry at the end of a path. Braces are literal. */
function parseEntry(pattern: string): { tokens: GlobToken[]; isForDirs: boolean } {
  const isForDirs = pattern.endsWith('/');
  const text = isForDirs ? pattern.slice(0, -1) : pattern;
  const spelled = text.replace(/^\//, '').replace(/\\.|[{}]/gs, (part) => (part.length > 1 ? part : `\\${part}`));
  const tokens = parseGlob(spelled, NAME_WILDCARDS);
  return { tokens: text.includes('/') ? tokens : [PREFIX, ...tokens], isForDirs };
}
