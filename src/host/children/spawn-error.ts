/**
 * The reason why a child did not start, as a message for the caller.
 *
 * The message names the program and never PATH, the working directory or the system's own error text: those belong to
 * the host.
 */
import { statSync } from 'node:fs';

import type { Command } from './containments/containment.ts';

const WORDS: Record<string, string> = {
  ENOENT: 'was not found',
  EACCES: 'is not executable by this user',
  EPERM: 'may not be executed by this user',
  ENOTDIR: 'has a file as a parent directory',
  ENOEXEC: 'is not in a format this system executes',
  ELOOP: 'has too many symlinks in its path',
  ENAMETOOLONG: 'is too long a name',
  ETXTBSY: 'is being written by another process; try again',
  E2BIG: 'was given more arguments and environment than the system takes; pass the data on stdin or in a file',
  EAGAIN: 'was not started: this system runs no more processes now; try again later',
  ENOMEM: 'was not started: this system has no memory for another process; try again later',
  EMFILE: 'was not started: too many files are open; try again later',
  ENFILE: 'was not started: too many files are open on this system; try again later',
};

export class SpawnError extends Error {
  override readonly name = 'SpawnError';
  /** The errno name; `CWD` if the working directory cannot be entered. */
  readonly code: string;
  readonly program: string;

  constructor(code: string, program: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.program = program;
  }

  /** Translates a failed system call. Rethrows anything else: it is a bug. */
  static fromErrno(error: unknown, command: Pick<Command, 'argv' | 'cwd'>): SpawnError {
    if (!(error instanceof Error && 'errno' in error && 'code' in error)) throw error;
    return SpawnError.of(String(error.code), command, error);
  }

  static of(code: string, { argv, cwd }: Pick<Command, 'argv' | 'cwd'>, cause?: Error): SpawnError {
    const program = argv[0]!;
    // The system reports a missing directory and a missing program alike.
    if (!isDirectory(cwd)) return new SpawnError('CWD', program, 'the working directory does not exist', { cause });
    return new SpawnError(code, program, `${program} ${WORDS[code] ?? `was not started (${code})`}`, { cause });
  }
}

/** Refuses values that no system call can take, such as a NUL byte. */
export function checkCommand({ argv, env }: { argv: readonly string[]; env: Record<string, string> }): void {
  const program = argv[0] ?? '';
  const refuse = (what: string): never => {
    throw new SpawnError('EINVAL', program.replaceAll('\0', '\uFFFD'), what);
  };
  if (program === '') refuse('the command is empty');

  const word = argv.findIndex((text) => text.includes('\0'));
  if (word === 0) refuse('the program name contains a NUL byte');
  if (word > 0) refuse(`argument ${word} contains a NUL byte`);

  for (const [name, value] of Object.entries(env)) {
    if (!/^[^=\0]+$/.test(name)) refuse(`${JSON.stringify(name)} is not a name for an environment variable`);
    if (value.includes('\0')) refuse(`the environment variable ${name} contains a NUL byte`);
  }
}

export function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
