/** Which paths of this system the commands see, as options of the launcher. */
import { lstatSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, delimiter, dirname, isAbsolute, join } from 'node:path';

import { ownAccount } from '#host';
import { FenceError } from './fence-error.ts';
import { SHIPPED_HIDE, SHIPPED_LAYERS, SHIPPED_TOOLCHAINS } from './shipped-paths.ts';

export interface LayoutOptions {
  /** Canonical; the directory that commands may change. */
  readonly workspace: string;
  /** Paths that commands see beside the shipped ones; absolute, or from `~/`. */
  readonly paths: {
    readonly read: readonly string[];
    readonly layers: readonly string[];
    readonly write: readonly string[];
    readonly hide: readonly string[];
  };
}

export interface Layout {
  readonly options: readonly string[];
  /** HOME inside. */
  readonly home: string;
  /** Whether a path is covered by an empty directory inside. */
  readonly isCovered: (path: string) => boolean;
}

/** Emptied for every command, and shared by the commands of a server. */
const TEMPORARY = ['/tmp', '/var/tmp'];
const RUNTIME = '/run';

/** A workspace that contains one of these would open paths that the fence closes. */
const SYSTEM = ['/usr', '/etc', '/var', '/home', '/root', '/run', '/dev', '/proc', '/sys', '/bin', '/lib', '/sbin'];

export function layOut({ workspace, paths }: LayoutOptions, env = process.env): Layout {
  const home = ownHome();
  const closed = [...SYSTEM, ...(home ? [home] : [])].find((path) => isWithin(workspace, path));
  if (closed !== undefined) {
    throw new FenceError(
      `the workspace ${workspace} holds ${closed}, which the fence has to close`,
      'choose a project directory as workspace or fs.host_root',
    );
  }
  const temporary = TEMPORARY.filter((path) => path !== workspace && isPlainDirectory(path));
  const emptied = [RUNTIME, ...(home ? [home] : [])].filter(isPlainDirectory);
  const fromHome = (path: string) => (path.startsWith('~/') ? (home ? join(home, path.slice(2)) : '') : path);
  const directories = (...lists: (readonly string[])[]) => unique(lists.flat().map(fromHome)).filter(isDirectory);
  const hidden = unique([...SHIPPED_HIDE, ownAccount().home ?? '', ...paths.hide.map(fromHome)]).filter(
    (path) => isAbsolute(path) && path !== '/' && path !== home && isThere(path),
  );
  const lists: Record<string, readonly string[]> = {
    '--hide': hidden,
    '--shared': temporary,
    '--private': emptied,
    '--layer': directories(SHIPPED_LAYERS, paths.layers),
    '--read': directories(SHIPPED_TOOLCHAINS, home ? programFolders(env.PATH ?? '', home) : [], paths.read),
    '--write': [workspace, ...directories(paths.write).map((path) => realpathSync(path))],
  };
  const covered = [...hidden, ...temporary, ...emptied];
  const shown = [...lists['--layer']!, ...lists['--read']!, ...lists['--write']!];
  return {
    options: Object.entries(lists).flatMap(([name, paths]) => paths.flatMap((path) => [name, path])),
    home: home ?? '/tmp',
    // The workspace is often in home or in /tmp: the innermost directory decides.
    isCovered: (path) => innermost(covered, path) > innermost(shown, path),
  };
}

/** Undefined for a user without one: services often have a path that does not exist. */
function ownHome(): string | undefined {
  const home = homedir();
  return isAbsolute(home) && home !== '/' && isDirectory(home) ? realpathSync(home) : undefined;
}

/** Folders of PATH in home, with the `lib` beside a `bin`, where programs such as npm have their modules. */
function programFolders(path: string, home: string): string[] {
  const inside = path.split(delimiter).filter((folder) => isAbsolute(folder) && isWithin(home, folder));
  const beside = inside
    .filter((folder) => basename(folder) === 'bin' && dirname(folder) !== home)
    .map((folder) => join(dirname(folder), 'lib'));
  return [...inside, ...beside].filter(isDirectory);
}

/** Length of the longest of these directories that the path is in; 0 if there is none. */
function innermost(directories: readonly string[], path: string): number {
  return Math.max(0, ...directories.filter((directory) => isWithin(directory, path)).map(({ length }) => length));
}

export function isWithin(directory: string, path: string): boolean {
  return path === directory || path.startsWith(directory === '/' ? '/' : `${directory}/`);
}

const unique = (paths: readonly string[]) => [...new Set(paths)];

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** A symlink such as /var/run is covered at its target. */
function isPlainDirectory(path: string): boolean {
  return isThere(path) && lstatSync(path).isDirectory();
}

/** A path that this user cannot see, its commands cannot see either. */
function isThere(path: string): boolean {
  try {
    return !lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}
