/**
 * A pid namespace for every job: when its first process ends, the kernel kills all others.
 *
 * That first process is a `cat` on a pipe of the server, so it ends with the server too, and no guardian is needed. The
 * program comes second: pid 1 of a namespace ignores signals and has to reap orphans. One namespace is made ahead,
 * because making one takes longer than starting a program.
 */
import { setTimeout as passed } from 'node:timers/promises';

import { findProgram } from '../find-program.ts';
import { NamespaceTools, PidNamespace } from './pid-namespace.ts';
import { listProcesses } from '../processes.ts';
import type { Command, ContainedProcess, JobGroup, ContainmentMethod } from './containment.ts';
import { sendSignal } from '../send-signal.ts';
import { ensureStarted, spawnCommand } from '../spawn-command.ts';

/** Namespaces that are made at the same time. */
const LANES = 4;

/** How often a signal polls for the program, and the pause between two polls. */
const ATTEMPTS = 100;
const PAUSE_MS = 20;

export class PidNamespaceContainment implements ContainmentMethod {
  readonly name = 'pid-namespace';
  readonly #tools = new NamespaceTools();
  readonly #lanes: Promise<unknown>[] = Array.from({ length: LANES }, () => Promise.resolve());
  #made = 0;
  #ahead: Promise<PidNamespace | undefined> | undefined;

  private constructor() {}

  /** Throws when this system does not let this user make a namespace. */
  static async open(): Promise<PidNamespaceContainment> {
    const containment = new PidNamespaceContainment();
    const command = { argv: ['true'], cwd: '/', env: {}, stdin: 'ignore' } as const;
    const { process, group } = await containment.start(command);
    const exitCode = await new Promise((resolve) => process.once('exit', resolve));
    await group.kill();
    if (exitCode === 0) return containment;

    await containment.close();
    throw new Error('this user may not enter pid namespaces here');
  }

  async start(command: Command): Promise<ContainedProcess> {
    findProgram(command);
    const namespace = await this.#take();
    try {
      const process = spawnCommand(command, { argv: namespace.enter(command), cwd: '/' });
      await ensureStarted(process, command);
      return { process, group: groupOf(namespace, process.pid!) };
    } catch (error) {
      await namespace.end();
      throw error;
    }
  }

  async close(): Promise<void> {
    await (await this.#ahead)?.end();
  }

  async #take(): Promise<PidNamespace> {
    const ahead = this.#ahead;
    // If this one fails, the next job tries again and reports the reason.
    this.#ahead = this.#make().catch(() => undefined);
    const namespace = await ahead;
    return namespace?.isAlive ? namespace : await this.#make();
  }

  #make(): Promise<PidNamespace> {
    const lane = this.#made++ % LANES;
    const made = this.#lanes[lane]!.then(() => PidNamespace.make(this.#tools));
    this.#lanes[lane] = made.catch(() => undefined);
    return made;
  }
}

/** Needs no check for other processes: all of them end with the program. */
function groupOf(namespace: PidNamespace, leader: number): JobGroup {
  return {
    releaseIfEmpty: () => false,
    kill: () => namespace.end(),
    release() {},
    // The leader is `nsenter`, which only waits for the program and would end without it.
    async sendSignal(name) {
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        const group = (await listProcesses()).filter(({ pgid }) => pgid === leader);
        const program = group.filter(({ pid }) => pid !== leader);
        for (const { pid } of program) sendSignal(pid, name);
        // Right after the start it has not made the program yet.
        if (program.length > 0 || group.length === 0) return;
        await passed(PAUSE_MS);
      }
    },
  };
}
