/**
 * The working directory of a command: the configured one, or the one that its call names inside fs.host_root.
 *
 * The path is checked like that of a file operation, but it only decides where a command starts: only the fence limits the
 * files that the command opens.
 */
import { realpathSync, statSync } from 'node:fs';
import { resolve, sep } from 'node:path';

import { ConfigError } from '#contract';
import type { Jail } from '#host';
import type { ShellConfig } from './config.ts';

/** Default working directory. `root` is canonical. */
export function defaultCwd({ working_dir }: Pick<ShellConfig, 'working_dir'>, root: string): string {
  if (working_dir !== null) {
    const isDirectory = statSync(working_dir, { throwIfNoEntry: false })?.isDirectory() ?? false;
    if (!isDirectory) throw new ConfigError(`shell.working_dir: ${working_dir} is not a directory`);
    return resolve(working_dir);
  }
  const own = realpathSync(process.cwd());
  const isInside = own === root || own.startsWith(root.endsWith(sep) ? root : root + sep);
  return isInside ? own : root;
}

/** Working directory of one call; refused when the path points outside the jail or is not a directory. */
export function callCwd(path: string, jail: Jail): string {
  using directory = jail.openDir(path);
  return sep + directory.relativePath;
}
