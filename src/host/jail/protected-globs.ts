/** Compiles globs that protect files; their order matters. */
import { runsOf } from '../globs/glob-gitignore.ts';
import { compileGlobs } from '../globs/globs.ts';

export type Matches = (relativePath: string) => boolean;

/** Globs as plain data, since they are sent to threads; `above` is prepended to a path before matching. */
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
 * A match is protected with everything below it. `!` makes an exception from the globs before it: the last glob that
 * matches decides.
 */
export function compileProtect(globs: readonly string[]): Matches {
  const runs = runsOf(globs);
  const compile = (some: typeof runs) => compileGlobs(some.flatMap(({ patterns }) => patterns.flatMap(withBelow)));
  // Fast path: most paths match no glob.
  const matchesAny = compile(runs.filter(({ isNegated }) => !isNegated));
  if (runs.length < 2) return matchesAny;
  const lastFirst = runs.reverse().map((run) => ({ isIn: !run.isNegated, matches: compile([run]) }));
  return (path) => matchesAny(path) && lastFirst.find(({ matches }) => matches(path))!.isIn;
}

function withBelow(glob: string): string[] {
  return glob.endsWith('/**') ? [glob] : [glob, `${glob}/**`];
}

/** Globs of a worker's own list, in which `!` is an ordinary character. */
export function plainGlobs(globs: readonly string[]): ProtectedGlobs {
  return { globs: globs.map((glob) => (glob.startsWith('!') ? `\\${glob}` : glob)) };
}
