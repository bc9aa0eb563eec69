/** Glob lists as one predicate over paths relative to a root. No pattern reaches JavaScript's RegExp, so none can stall it. */
import { toBytes } from '../text/byte-string.ts';
import { GlobAutomaton } from './glob-automaton.ts';
import { compileGitignoreRuns, isNegated, parseGitignore } from './glob-gitignore.ts';
import { parseSegments } from './glob-segments.ts';
import { GlobError, parseGlobset, setOf, type GlobToken } from './glob-syntax.ts';

const DIALECTS = {
  /** `*` crosses `/`; the whole path is meant. */
  globset: parseGlobset,
  /** `*` stays in a name; without a `/` the last name is meant. */
  segments: parseSegments,
  /** As the lines of a .gitignore file, about files. */
  gitignore: parseGitignore,
};

/** How patterns are read. */
export type GlobDialectName = keyof typeof DIALECTS;

/** Of one list; what a state of their automaton takes, and a step of it, grows with both. */
const MAX_GLOBS = 256;
const MAX_TOTAL_CHARS = 65_536;

/** Of one that is refused. */
const SHOWN_CHARS = 40;

export interface GlobOptions {
  readonly dialect?: GlobDialectName;
  /** The directory the patterns start at, from the root of the paths. Nothing outside it matches. */
  readonly below?: string;
}

/** Whether any of the patterns matches; throws `GlobError` for a list too long, else for the first that cannot be read. */
export function compileGlobs(
  patterns: readonly string[],
  { dialect = 'globset', below = '' }: GlobOptions = {},
): (relativePath: string) => boolean {
  if (patterns.length === 0) return () => false;
  refuseTooMany(patterns);
  if (dialect === 'gitignore' && patterns.some(isNegated)) return startingAt(below, compileGitignoreRuns(patterns));
  const way = below === '' ? [] : spell(`${below}/`);
  const branches = patterns.map((pattern) => DIALECTS[dialect](pattern));
  const automaton = new GlobAutomaton([[...way, { kind: 'either', branches }]]);
  return (relativePath) => automaton.matches(relativePath);
}

/** A glob that means exactly this text. */
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
