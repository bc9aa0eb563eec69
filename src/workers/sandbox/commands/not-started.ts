/**
 * A command that could not be started: if the program is the cause, reported as a shell does, by exit code 126 or 127.
 */
import type { GuestError } from '#sandbox/guest';
import { errors } from '../errors.ts';

/** A shell's wording and exit code. */
const WHY_NOT: Record<string, { words: string; exitCode: number }> = {
  ENOENT: { words: 'not found', exitCode: 127 },
  ENOTDIR: { words: 'not found', exitCode: 127 },
  EACCES: { words: 'permission denied', exitCode: 126 },
  EISDIR: { words: 'permission denied', exitCode: 126 },
  E2BIG: { words: 'the words and the environment are more than a program can be given', exitCode: 126 },
  EMFILE: { words: 'the sandbox has too many open files', exitCode: 126 },
  ENFILE: { words: 'the sandbox has too many open files', exitCode: 126 },
  EAGAIN: { words: 'the sandbox has too many processes', exitCode: 126 },
  ENOMEM: { words: 'the sandbox has no memory left', exitCode: 126 },
  ENOEXEC: { words: 'not a program: a script starts with #! and its interpreter', exitCode: 126 },
};

/** Throws if the request or the sandbox is the cause. */
export function notStarted(
  { code: errno, about }: GuestError,
  { argv, workdir }: { argv: readonly string[]; workdir: string | null },
): { stderr: string; exitCode: number } {
  if (about === 'workdir') {
    throw errors.fail('S001', {
      problem: `workdir ${workdir ?? ''} cannot be entered in the sandbox (${errno})`,
      fix: { workdir: '/' },
    });
  }
  if (about === 'terminal') throw errors.fail('S222', { problem: `the sandbox could not make a terminal (${errno})` });
  const why = WHY_NOT[errno];
  if (!why) throw errors.fail('S300', { problem: `${argv[0]} could not be started (${errno})` });
  return { stderr: `exec: ${argv[0]}: ${why.words}\n`, exitCode: why.exitCode };
}
