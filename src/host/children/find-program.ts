/**
 * Finds a program as the system would.
 *
 * Only for commands that another program (`nsenter`) starts: that helper could not report the reason.
 */
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';

import type { Command } from './containments/containment.ts';
import { isDirectory, SpawnError } from './spawn-error.ts';

/** Search path of the system when PATH is not set. */
const DEFAULT_PATH = '/bin:/usr/bin';

/** Throws a `SpawnError` if the program cannot be started. */
export function findProgram(command: Pick<Command, 'argv' | 'cwd' | 'env'>): string {
  const { argv, cwd, env } = command;
  const program = argv[0]!;
  const folders = program.includes('/') ? [''] : (env.PATH ?? DEFAULT_PATH).split(delimiter);
  const refusals = new Set<string>();
  for (const folder of folders) {
    const path = resolve(cwd, folder, program);
    const refusal = refusalOf(path);
    if (refusal === undefined && isDirectory(cwd)) return path;
    refusals.add(refusal ?? 'ENOENT');
  }
  // "not executable" is more useful than "not found".
  throw SpawnError.of(refusals.has('EACCES') ? 'EACCES' : [...refusals][0]!, command);
}

/** The errno name of the reason why a path cannot be executed. */
function refusalOf(path: string): string | undefined {
  try {
    if (!statSync(path).isFile()) return 'EACCES';
    accessSync(path, constants.X_OK);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  }
}
