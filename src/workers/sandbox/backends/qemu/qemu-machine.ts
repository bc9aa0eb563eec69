/**
 * One sandbox of QEMU: a clone of a template.
 *
 * All commands that make it run are written to QEMU before it listens, so nothing waits for an answer. The first answer
 * is the agent's; if QEMU refused or exited, the channel closes and reports it at once.
 */
import { closeSync, openSync, readFileSync } from 'node:fs';
import type { Duplex } from 'node:stream';

import type { AgentClient } from '#sandbox/guest';
import type { LimitGroup } from '../../limits/limits.ts';
import type { Ending, Instance, Usage } from '../backend.ts';
import { askUsage } from './guest-usage.ts';
import type { Ingredients } from './files/ingredients.ts';
import { personalize } from './personalize.ts';
import type { QemuProcess } from './qemu-process.ts';
import { capabilitiesFor } from './templates/save-machine.ts';
import { startQemu, type QemuHost, type Size, type StartedQemu } from './start-qemu.ts';
import type { Template } from './templates/template.ts';

const STATE_URI = 'fd:5';

/** Unit of the kernel's CPU time. */
const TICKS_PER_SECOND = 100;

export interface Clone {
  readonly id: string;
  readonly size: Size;
  readonly ingredients: Ingredients;
}

export class QemuMachine implements Instance {
  readonly #process: QemuProcess;
  readonly #group: LimitGroup;
  readonly #hostname: string;
  /** Set once it has been personalized. */
  #agent: AgentClient | undefined;
  #disposing: Promise<void> | undefined;

  constructor({ process, group }: StartedQemu, id: string) {
    this.#process = process;
    this.#group = group;
    this.#hostname = `sandbox-${id.slice(0, 8)}`;
  }

  static async clone(host: QemuHost, template: Template, { id, size, ingredients }: Clone): Promise<QemuMachine> {
    const stateFd = openSync(template.state, 'r');
    try {
      const started = await startQemu(host, {
        id,
        size,
        ingredients,
        machine: template.facts.machine,
        memory: template.memory === undefined ? undefined : { path: template.memory, use: 'private' },
        scratch: { path: template.scratch, use: 'private' },
        stateFd,
      });
      resume(started.process, template);
      return new QemuMachine(started, id);
    } finally {
      closeSync(stateFd);
    }
  }

  get channel(): Duplex {
    return this.#process.channel;
  }

  get pid(): number {
    return this.#process.pid;
  }

  get exited(): Promise<Ending> {
    return this.#process.exited;
  }

  async personalize(agent: AgentClient): Promise<void> {
    await personalize(agent, this.#hostname);
    this.#agent = agent;
  }

  async usage(): Promise<Usage | undefined> {
    const used = this.#group.usage() ?? processUsage(this.#process.insidePid);
    const reported = this.#agent && (await askUsage(this.#agent));
    return used && { ...used, diskBytes: 0, ...reported };
  }

  async kill(): Promise<void> {
    await this.#process.kill();
  }

  async dispose(): Promise<void> {
    this.#process.channel.destroy();
    this.#disposing ??= this.#group.release();
    await this.#disposing;
  }
}

function resume(process: QemuProcess, { facts }: Template): void {
  const asked = [
    process.qmp.execute('migrate-set-capabilities', { capabilities: capabilitiesFor(facts.ram) }),
    process.qmp.execute('migrate-incoming', { uri: STATE_URI }),
  ];
  Promise.all(asked).catch((error: unknown) => {
    process.fail(`QEMU did not take the state: ${(error as Error).message}`);
  });
}

/** Without cgroups, reads the usage from /proc. */
function processUsage(pid: number | undefined): Omit<Usage, 'diskBytes'> | undefined {
  if (pid === undefined) return undefined;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [userTicks, systemTicks, threads] = [fields[11], fields[12], fields[17]].map(Number);
    const privatePages = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
    return {
      memoryBytes: Number(privatePages ?? 0) * 1024,
      cpuMs: Math.round(((userTicks! + systemTicks!) * 1000) / TICKS_PER_SECOND),
      pids: threads!,
      oomKills: 0,
    };
  } catch {
    return undefined;
  }
}
