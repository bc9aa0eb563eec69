/**
 * Resolves a program's name or path to a file.
 *
 * A path counts as the program that PATH finds only when it is the same entry of the same directory: a symlink
 * elsewhere that points to it could point to another one by the time it runs.
 */
import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { basename, delimiter, dirname, join, resolve, sep } from 'node:path';

export interface Lookup {
  /** The PATH of the child. */
  path: string;
  /** Base of relative paths. */
  cwd: string;
}

/** The first executable file on PATH with this name. */
export function findOnPath(name: string, lookup: Lookup): string | undefined {
  return directoriesOf(lookup)
    .map((directory) => join(directory, name))
    .find(isExecutable);
}

/** Whether PATH contains a canonical directory: its programs may change any moment. */
export function looksInto(root: string, lookup: Lookup): boolean {
  return directoriesOf(lookup).some((directory) => isWithin(root, directory) || isWithin(root, realPath(directory)));
}

/** The path with the symlinks of its directory resolved, if PATH finds it for its last name. */
export function entryOnPath(given: string, lookup: Lookup): string | undefined {
  const found = findOnPath(basename(given), lookup);
  if (found === undefined) return undefined;

  const entry = canonicalEntry(found);
  const file = resolve(lookup.cwd, given);
  return isExecutable(file) && canonicalEntry(file) === entry ? entry : undefined;
}

/** Whether a file, or its target, is in a canonical directory. */
export function liesIn(root: string, file: string): boolean {
  return [canonicalEntry(file), realPath(file)].some((path) => isWithin(root, path));
}

/** An empty part of PATH (also an empty PATH) stands for the current directory. */
function directoriesOf({ path, cwd }: Lookup): string[] {
  return path.split(delimiter).map((directory) => resolve(cwd, directory));
}

function isWithin(root: string, path: string): boolean {
  return path === root || path.startsWith(root + sep);
}

/** The path itself if it does not exist. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function canonicalEntry(file: string): string {
  return join(realPath(dirname(file)), basename(file));
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
