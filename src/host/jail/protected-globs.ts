/** Globs that protect files, read in their order. */
import { runsOf } from '../globs/glob-gitignore.ts';
import { compileGlobs } from '../globs/globs.ts';

export type Matches = (relativePath: string) => boolean;

/** Globs as plain data, since they cross threads; `above` is what paths begin with before they are held against them. */
export interface ProtectedGlobs {
  readonly globs: readonly string[];
  readonly above?: string;
}

/** Whether one of the lists protects a path. */
export function compileProtected(lists: readonly ProtectedGlobs[]): Matches {
  const compiled = lists.map(({ globs, above }) => {
    const matches = compileProtect(globs);
    return above === undefined ? matches : (path: string) => matches(`${above}/${path}`);
  });
  return compiled.length === 1 ? compiled[0]! : (path) => compiled.some((matches) => matches(path));
}

/**
 * What a glob matches is protected with everything below it. `!` takes back what globs before it match: the last one that
 * matches decides.
 */
export function compileProtect(globs: readonly string[]): Matches {
  const runs = runsOf(globs);
  const compile = (some: typeof runs) => compileGlobs(some.flatMap(({ patterns }) => patterns.flatMap(withBelow)));
  // Most paths match nothing: they are asked about once.
  const matchesAny = compile(runs.filter(({ isNegated }) => !isNegated));
  if (runs.length < 2) return matchesAny;
  const lastFirst = runs.reverse().map((run) => ({ isIn: !run.isNegated, matches: compile([run]) }));
  return (path) => matchesAny(path) && lastFirst.find(({ matches }) => matches(path))!.isIn;
}

function withBelow(glob: string): string[] {
  return glob.endsWith('/**') ? [glob] : [glob, `${glob}/**`];
}

/** Globs of a worker's own, which take nothing back. */
export function plainGlobs(globs: readonly string[]): ProtectedGlobs {
  return { globs: globs.map((glob) => (glob.startsWith('!') ? `\\${glob}` : glob)) };
}
