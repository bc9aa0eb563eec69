/**
 * Contains the job of a launcher that makes a process namespace: the launcher and its first process inside are one
 * group, which the kernel keeps until everything inside has ended.
 *
 * For systems without cgroups. The namespaces of the other containments could not be left again for those of the
 * launcher. The launcher asks the kernel to end it with the server, so no guardian is needed.
 */
import { awaitGone } from '../await-gone.ts';
import type { Command, ContainedProcess } from './containment.ts';
import { sendSignal } from '../send-signal.ts';
import { ensureStarted, spawnCommand } from '../spawn-command.ts';

export async function startLaunched(command: Command): Promise<ContainedProcess> {
  const process = spawnCommand(command);
  await ensureStarted(process, command);
  const leader = process.pid!;
  return {
    process,
    group: {
      releaseIfEmpty: () => !isGroupAlive(leader),
      kill: () =>
        awaitGone(() => {
          sendSignal(-leader, 'SIGKILL');
          return !isGroupAlive(leader);
        }),
      release() {},
    },
  };
}

export function isGroupAlive(leader: number): boolean {
  try {
    process.kill(-leader, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
