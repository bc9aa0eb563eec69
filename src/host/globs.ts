/** Glob lists as one predicate over paths relative to a root. No pattern reaches JavaScript's RegExp, so none can stall it. */
import { toBytes } from './byte-string.ts';
import { GlobAutomaton } from './glob-automaton.ts';
import { parsePlainSegments, parseSegments } from './glob-segments.ts';
import { parseGlobset, setOf, type GlobToken } from './glob-syntax.ts';

const DIALECTS = {
  /** `*` crosses `/`; the whole path is meant. */
  globset: parseGlobset,
  /** `*` stays in a name; without a `/` the last name is meant. */
  segments: parseSegments,
  /** The same without classes and alternatives. */
  'plain-segments': parsePlainSegments,
};

/** How patterns are read. */
export type GlobDialectName = keyof typeof DIALECTS;

export interface GlobOptions {
  readonly dialect?: GlobDialectName;
  /** The directory the patterns start at, from the root of the paths. Nothing outside it matches. */
  readonly below?: string;
}

/** Whether any of the patterns matches; throws `GlobError` for the first that cannot be read. */
export function compileGlobs(
  patterns: readonly string[],
  { dialect = 'globset', below = '' }: GlobOptions = {},
): (relativePath: string) => boolean {
  if (patterns.length === 0) return () => false;
  const way = below === '' ? [] : spell(`${below}/`);
  const automaton = new GlobAutomaton(patterns.map((pattern) => [...way, ...DIALECTS[dialect](pattern)]));
  return (relativePath) => automaton.matches(relativePath);
}

function spell(text: string): GlobToken[] {
  return Array.from(toBytes(text), (char) => ({
    kind: 'byte',
    set: setOf([[char.charCodeAt(0), char.charCodeAt(0)]]),
  }));
}
