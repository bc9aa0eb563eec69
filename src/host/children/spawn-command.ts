/**
 * The only call of `child_process.spawn` for jobs: no shell, a session of its own, three descriptors, and those for a launcher.
 *
 * Node reports a failure by throwing, or as an `error` event in the next turn. Both become a `SpawnError`.
 */
import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';

import type { Command } from './containments/containment.ts';
import { SpawnError } from './spawn-error.ts';

/** The leader of a session that opens a terminal gets it as its own; Node cannot do that between fork and exec. */
const OPEN_TERMINAL = ['/bin/sh', '-c', 'exec <>"$0" >&0 2>&0; exec "$@"'];

/** With `through`, another program starts the command; errors name the command nevertheless. */
export function spawnCommand(command: Command, through: Pick<Command, 'argv' | 'cwd'> = command): ChildProcess {
  const { env, stdin, terminalPath, descriptors } = command;
  const opened = terminalPath === undefined || descriptors ? [] : [...OPEN_TERMINAL, terminalPath];
  const [program, ...words] = [...opened, ...through.argv];
  const streams =
    terminalPath === undefined ? ([stdin, 'pipe', 'pipe'] as const) : (['ignore', 'ignore', 'ignore'] as const);
  const stdio: StdioOptions = [...streams, ...(descriptors ?? [])];
  try {
    return spawn(program!, words, { cwd: through.cwd, env, detached: true, stdio });
  } catch (error) {
    throw SpawnError.fromErrno(error, command);
  }
}

/**
 * Throws the reason why the process did not start. Call it in the same turn as `spawnCommand`: the event comes in the
 * next one, and nothing else listens.
 */
export async function ensureStarted(process: ChildProcess, command: Command): Promise<void> {
  if (process.pid !== undefined) return;
  const [error] = await once(process, 'error');
  throw SpawnError.fromErrno(error, command);
}
