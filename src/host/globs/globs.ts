/**
 * Compiles a list of globs to one predicate over paths relative to a root. No pattern reaches JavaScript's RegExp, so
 * none can stall it.
 */
import { toBytes } from '../text/byte-string.ts';
import { GlobAutomaton } from './glob-automaton.ts';
import { compileGitignoreRuns, isNegated, parseGitignore } from './glob-gitignore.ts';
import { parseSegments } from './glob-segments.ts';
import { GlobError, parseGlobset, setOf, type GlobToken } from './glob-syntax.ts';

const DIALECTS = {
  /** `*` crosses `/`; matches the whole path. */
  globset: parseGlobset,
  /** `*` stays in a name; without a `/` matches the last name. */
  segments: parseSegments,
  /** Patterns like the lines of a .gitignore file, for paths of files. */
  gitignore: parseGitignore,
};

/** The dialect of the patterns. */
export type GlobDialectName = keyof typeof DIALECTS;

/** Most globs in a list; each costs memory, and time in every step of the automaton. */
const MAX_GLOBS = 256;
const MAX_TOTAL_CHARS = 65_536;

/** Characters of a refused glob that an error shows. */
const SHOWN_CHARS = 40;

export interface GlobOptions {
  readonly dialect?: GlobDialectName;
  /** The directory the patterns are relative to, from the root of the paths. Nothing outside it matches. */
  readonly below?: string;
}

/** Returns whether any pattern matches; throws `GlobError` for a list that is too long, or for the first invalid pattern. */
export function compileGlobs(
  patterns: readonly string[],
  { dialect = 'globset', below = '' }: GlobOptions = {},
): (relativePath: string) => boolean {
  if (patterns.length === 0) return () => false;
  refuseTooMany(patterns);
  if (dialect === 'gitignore' && patterns.some(isNegated)) return startingAt(below, compileGitignoreRuns(patterns));
  const prefix = below === '' ? [] : spell(`${below}/`);
  const branches = patterns.map((pattern) => DIALECTS[dialect](pattern));
  const automaton = new GlobAutomaton([[...prefix, { kind: 'either', branches }]]);
  return (relativePath) => automaton.matches(relativePath);
}

/** A glob that matches exactly this text. */
export function escapeGlob(text: string): string {
  return text.replace(/[*?[\]{}\\]/g, '\\$&');
}

function startingAt(below: string, matches: (relativePath: string) => boolean): (relativePath: string) => boolean {
  if (below === '') return matches;
  return (path) => path.startsWith(`${below}/`) && matches(path.slice(below.length + 1));
}

function refuseTooMany(patterns: readonly string[]): void {
  const stray = patterns[MAX_GLOBS];
  if (stray !== undefined) throw new GlobError(shorten(stray), `a list holds at most ${MAX_GLOBS} globs`);

  const chars = patterns.reduce((sum, pattern) => sum + pattern.length, 0);
  if (chars > MAX_TOTAL_CHARS) {
    throw new GlobError(shorten(patterns.at(-1)!), `the list is longer than ${MAX_TOTAL_CHARS} characters`);
  }
}

function shorten(pattern: string): string {
  return pattern.length > SHOWN_CHARS ? `${pattern.slice(0, SHOWN_CHARS)}…` : pattern;
}

function spell(text: string): GlobToken[] {
  return Array.from(toBytes(text), (char) => ({
    kind: 'byte',
    set: setOf([[char.charCodeAt(0), char.charCodeAt(0)]]),
  }));
}
