/** Limits by cgroups version 2: one group with all controllers. */
import { accessSync, constants, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { ownCgroup } from '#host';
import { cachedBytes, CgroupDir, sweepHierarchy } from './cgroup-dir.ts';
import type { GroupUsage, LimitGroup, LimitHits, Limiter, Limits } from './limits.ts';

const CONTROLLERS = ['memory', 'pids', 'cpu'];
const PERIOD_US = 100_000;
const MIB = 1024 * 1024;

/** Parent of the groups of all sandboxes: a group with limits cannot contain processes and groups side by side. */
const HOME = 'workcell-sandboxes';

export class CgroupV2Limiter implements Limiter {
  readonly kind = 'cgroup2';
  readonly #home: string;

  constructor(home: string) {
    this.#home = home;
  }

  /**
   * Finds the group below our own group, or below the nearest ancestor that we may use. For an ordinary user that is a
   * group of the session, delegated by systemd; for root it may be the root. Undefined when none delegates its
   * controllers.
   */
  static open(own = ownCgroup('unified'), root = '/sys/fs/cgroup'): CgroupV2Limiter | undefined {
    for (const parent of own === undefined ? [] : upwards(own, root)) {
      const home = join(parent, HOME);
      if (takeControllers(parent, home)) return new CgroupV2Limiter(home);
    }
    return undefined;
  }

  make(id: string, { memoryMb, diskMb, cpus, maxProcesses }: Limits): LimitGroup {
    const group = CgroupDir.make(this.#home, id);
    group.write('memory.max', (memoryMb + diskMb) * MIB);
    if (group.has('memory.swap.max')) group.write('memory.swap.max', 0);
    group.write('pids.max', maxProcesses);
    group.write('cpu.max', `${Math.round(cpus * PERIOD_US)} ${PERIOD_US}`);
    return new CgroupV2Group(group, maxProcesses);
  }

  async sweep(): Promise<void> {
    await sweepHierarchy(this.#home);
  }
}

class CgroupV2Group implements LimitGroup {
  readonly entrances: readonly string[];
  readonly #group: CgroupDir;
  readonly #maxProcesses: number;

  constructor(group: CgroupDir, maxProcesses: number) {
    this.#group = group;
    this.#maxProcesses = maxProcesses;
    this.entrances = [join(group.path, 'cgroup.procs')];
  }

  usage(): GroupUsage {
    return {
      memoryBytes: this.#group.counter('memory.stat', 'anon'),
      sharedBytes: this.#group.counter('memory.stat', 'shmem'),
      pids: Number(this.#group.read('pids.current')),
      cpuMs: Math.round(this.#group.counter('cpu.stat', 'usage_usec') / 1000),
      oomKills: this.hits().oomKills,
    };
  }

  hits(): LimitHits {
    return {
      oomKills: this.#group.counter('memory.events', 'oom_kill'),
      refusedForks: this.#group.counter('pids.events', 'max'),
      maxProcesses: this.#maxProcesses,
    };
  }

  usedBytes(): number {
    return Number(this.#group.read('memory.current')) - cachedBytes(this.#group.read('memory.stat'));
  }

  members(): number[] {
    return this.#group.members();
  }

  async release(): Promise<void> {
    await this.#group.remove();
  }
}

function upwards(own: string, root: string): string[] {
  const groups = [own];
  while (groups.at(-1)!.startsWith(`${root}/`)) groups.push(dirname(groups.at(-1)!));
  return groups.at(-1) === root ? groups : [...groups, root];
}

/** Whether all controllers reach the groups below `home`, which is created for that. */
function takeControllers(parent: string, home: string): boolean {
  const wanted = CONTROLLERS.map((name) => `+${name}`).join(' ');
  try {
    const offered = readFileSync(join(parent, 'cgroup.controllers'), 'latin1').trim().split(' ');
    if (!CONTROLLERS.every((name) => offered.includes(name))) return false;
    // Moving a process between groups requires write access here, in their common ancestor.
    accessSync(join(parent, 'cgroup.procs'), constants.W_OK);
    writeFileSync(join(parent, 'cgroup.subtree_control'), wanted);
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, 'cgroup.subtree_control'), wanted);
    return true;
  } catch {
    return false;
  }
}
