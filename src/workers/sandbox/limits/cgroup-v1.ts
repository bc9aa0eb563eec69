/** Limits by cgroups version 1: one group in the hierarchy of each controller. */
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

import { ownCgroup } from '#host';
import { cachedBytes, CgroupDir, sweepHierarchy } from './cgroup-dir.ts';
import type { GroupUsage, LimitGroup, LimitHits, Limiter, Limits } from './limits.ts';

const CONTROLLERS = ['memory', 'pids', 'cpu', 'cpuacct'] as const;
const PERIOD_US = 100_000;
const MIB = 1024 * 1024;

type Controller = (typeof CONTROLLERS)[number];
type Groups = Record<Controller, CgroupDir>;

export class CgroupV1Limiter implements Limiter {
  readonly kind = 'cgroup1';
  readonly #parents: Record<Controller, string>;

  constructor(parents: Record<Controller, string>) {
    this.#parents = parents;
  }

  /** Undefined when a hierarchy is missing or not writable. */
  static open(): CgroupV1Limiter | undefined {
    const parents = Object.fromEntries(CONTROLLERS.map((controller) => [controller, ownCgroup(controller)]));
    return CONTROLLERS.every((controller) => isWritable(parents[controller]))
      ? new CgroupV1Limiter(parents as Record<Controller, string>)
      : undefined;
  }

  make(id: string, { memoryMb, diskMb, cpus, maxProcesses }: Limits): LimitGroup {
    const groups = this.#makeGroups(id);
    const memoryBytes = (memoryMb + diskMb) * MIB;
    groups.memory.write('memory.limit_in_bytes', memoryBytes);
    const withSwap = 'memory.memsw.limit_in_bytes';
    if (groups.memory.has(withSwap)) groups.memory.write(withSwap, memoryBytes);
    groups.pids.write('pids.max', maxProcesses);
    groups.cpu.write('cpu.cfs_period_us', PERIOD_US);
    groups.cpu.write('cpu.cfs_quota_us', Math.round(cpus * PERIOD_US));
    return new CgroupV1Group(groups, maxProcesses);
  }

  /** Controllers that share a hierarchy share a group. */
  #makeGroups(id: string): Groups {
    const made = new Map<string, CgroupDir>();
    const groupFor = (controller: Controller) => {
      const parent = this.#parents[controller];
      const group = made.get(parent) ?? CgroupDir.make(parent, id);
      made.set(parent, group);
      return group;
    };
    return Object.fromEntries(CONTROLLERS.map((controller) => [controller, groupFor(controller)])) as Groups;
  }

  async sweep(): Promise<void> {
    for (const parent of new Set(Object.values(this.#parents))) await sweepHierarchy(parent);
  }
}

class CgroupV1Group implements LimitGroup {
  readonly entrances: readonly string[];
  readonly #groups: Groups;
  readonly #maxProcesses: number;

  constructor(groups: Groups, maxProcesses: number) {
    this.#groups = groups;
    this.#maxProcesses = maxProcesses;
    this.entrances = [...new Set(Object.values(groups))].map(({ path }) => join(path, 'cgroup.procs'));
  }

  usage(): GroupUsage {
    const { memory, pids, cpuacct } = this.#groups;
    return {
      memoryBytes: memory.counter('memory.stat', 'total_rss'),
      sharedBytes: memory.counter('memory.stat', 'total_shmem'),
      pids: Number(pids.read('pids.current')),
      cpuMs: Math.round(Number(cpuacct.read('cpuacct.usage')) / 1e6),
      oomKills: this.hits().oomKills,
    };
  }

  hits(): LimitHits {
    const { memory, pids } = this.#groups;
    return {
      oomKills: memory.counter('memory.oom_control', 'oom_kill'),
      refusedForks: pids.counter('pids.events', 'max'),
      maxProcesses: this.#maxProcesses,
    };
  }

  usedBytes(): number {
    const { memory } = this.#groups;
    return Number(memory.read('memory.usage_in_bytes')) - cachedBytes(memory.read('memory.stat'), 'total_');
  }

  members(): number[] {
    return this.#groups.memory.members();
  }

  async release(): Promise<void> {
    for (const group of Object.values(this.#groups)) await group.remove();
  }
}

function isWritable(path: string | undefined): boolean {
  try {
    accessSync(path ?? '', constants.W_OK);
    return path !== undefined;
  } catch {
    return false;
  }
}
