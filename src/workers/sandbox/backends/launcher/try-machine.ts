/** Checks that a machine starts and its agent answers: the probe of a backend. */
import { AgentClient } from '#sandbox/guest';
import type { Instance } from '../backend.ts';
import { emptyImage } from '../empty-image.ts';

export interface Refusal {
  reason: string;
  stderrTail: string;
}

/** A small machine on an empty root. */
export async function emptyShape(cacheDir: string) {
  return { rootDir: await emptyImage(cacheDir).directory(), cpus: 1, memoryMb: 64, diskMb: 16 };
}

/** Undefined if the agent answered; the machine is killed either way. */
export async function tryMachine(
  start: () => Promise<Instance>,
  options: { deadlineMs: number; signal: AbortSignal },
): Promise<Refusal | undefined> {
  let machine: Instance | undefined;
  try {
    machine = await start();
    const agent = await AgentClient.open(machine.channel, options);
    agent.close();
    return undefined;
  } catch (error) {
    await machine?.kill();
    const stderrTail = (await machine?.exited)?.stderrTail ?? '';
    return { reason: stderrTail || (error as Error).message, stderrTail };
  } finally {
    await machine?.kill();
    await machine?.dispose();
  }
}
