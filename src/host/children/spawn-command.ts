/**
 * The only call of `child_process.spawn` for jobs: no shell, a session of its own, three descriptors.
 *
 * Node reports a failure by throwing, or as an `error` event in the next turn. Both become a `SpawnError`.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

import type { Command } from './rung.ts';
import { SpawnError } from './spawn-error.ts';

/** With `through`, another program starts the command; errors name the command nevertheless. */
export function spawnCommand(command: Command, through: Pick<Command, 'argv' | 'cwd'> = command): ChildProcess {
  const [program, ...words] = through.argv;
  const { env, stdin } = command;
  try {
    return spawn(program!, words, { cwd: through.cwd, env, detached: true, stdio: [stdin, 'pipe', 'pipe'] });
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
