/**
 * Globs of a rule over the paths of a call.
 *
 * A call about a folder concerns everything below it, which no single match decides: to allow, a glob has to cover the
 * whole folder; to ask or deny, it is enough that one could match something below.
 */
import { ConfigError } from '#contract';
import { compileGlobs, GlobError } from '#host';
import type { SubjectPath } from './subject.ts';

export interface PathGlobs {
  /** Whether everything that the call concerns at this path matches. */
  readonly covers: (path: SubjectPath) => boolean;
  /** Whether something that it concerns may match. */
  readonly touches: (path: SubjectPath) => boolean;
}

const SPECIAL = /[*?[\]{}\\]/;

export function compilePathGlobs(globs: readonly string[], where: string): PathGlobs {
  const matches = compiled(globs, where);
  const starts = globs.map(literalStart);
  const wholeFolders = globs.flatMap((glob) => wholeFolder(glob) ?? []);
  return {
    covers: ({ path, isTree }) => (isTree ? wholeFolders.some((folder) => isAtOrBelow(path, folder)) : matches(path)),
    touches: ({ path, isTree }) => matches(path) || (isTree && starts.some((start) => mayMeet(path, start))),
  };
}

function compiled(globs: readonly string[], where: string): (path: string) => boolean {
  try {
    return compileGlobs(globs);
  } catch (error) {
    if (!(error instanceof GlobError)) throw error;
    throw new ConfigError(`${where}: ${error.message}`, { cause: error });
  }
}

/** The folder of a glob that matches all that lies below it: `src` of `src/**`, `.` of `**`. */
function wholeFolder(glob: string): string | undefined {
  if (glob === '**' || glob === '*') return '.';
  const folder = /^(.*)\/\*\*?$/s.exec(glob)?.[1];
  return folder === undefined || SPECIAL.test(folder) ? undefined : folder;
}

/** The names that a glob begins with, up to the first that is not literal. */
function literalStart(glob: string): string {
  const names = glob.split('/');
  const end = names.findIndex((name) => SPECIAL.test(name));
  return (end === -1 ? names : names.slice(0, end)).join('/');
}

/**
 * Whether one contains the other. A glob without a literal start may match anywhere; an outer folder may contain the
 * workspace.
 */
function mayMeet(path: string, start: string): boolean {
  return (
    start === '' ||
    (path.startsWith('/') && !start.startsWith('/')) ||
    isAtOrBelow(start, path) ||
    isAtOrBelow(path, start)
  );
}

function isAtOrBelow(path: string, folder: string): boolean {
  if (folder === '.') return !path.startsWith('/');
  return path === folder || path.startsWith(`${folder}/`);
}
