/**
 * Finds a program as the system would.
 *
 * The system does that itself when it starts one. It is asked before where another program does the starting and
 * could only say that it failed.
 */
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';

import type { Command } from './rung.ts';
import { isDirectory, SpawnError } from './spawn-error.ts';

/** Where the system looks when there is no PATH. */
const DEFAULT_PATH = '/bin:/usr/bin';

/** Throws a `SpawnError` for what cannot be started. */
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
  // One that may not be executed says more than one that is not there.
  throw SpawnError.of(refusals.has('EACCES') ? 'EACCES' : [...refusals][0]!, command);
}

/** The errno name for what keeps this from being executed. */
function refusalOf(path: string): string | undefined {
  try {
    if (!statSync(path).isFile()) return 'EACCES';
    accessSync(path, constants.X_OK);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  }
}
