/** Glob lists as one predicate over paths relative to a root. No pattern reaches JavaScript's RegExp, so none can stall it. */
import { GlobAutomaton } from './glob-automaton.ts';
import { parseGlobset, type GlobDialect } from './glob-syntax.ts';

/** Whether any of the patterns matches; throws `GlobError` for the first that cannot be read. */
export function compileGlobs(
  patterns: readonly string[],
  dialect: GlobDialect = parseGlobset,
): (relativePath: string) => boolean {
  if (patterns.length === 0) return () => false;
  const automaton = new GlobAutomaton(patterns.map(dialect));
  return (relativePath) => automaton.matches(relativePath);
}
