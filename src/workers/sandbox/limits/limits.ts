/**
 * What a sandbox may use, held by the kernel: memory, processes and processor time.
 *
 * The disk of a sandbox lives in memory and counts as such for the kernel, so a group may use both together; the size
 * of the disk is its file system's own, and memory-watch.ts holds programs to what is theirs of it. See
 * docs/decisions/2026-11-15-sandbox-disk-in-memory.md.
 */
import { CgroupV1Limiter } from './cgroup-v1.ts';
import { CgroupV2Limiter } from './cgroup-v2.ts';

export interface Limits {
  memoryMb: number;
  diskMb: number;
  cpus: number;
  maxProcesses: number;
}

export interface GroupUsage {
  /** Without what the files on the disk take. */
  memoryBytes: number;
  /** Memory that is a file: that of the disk, and what programs share. */
  sharedBytes: number;
  pids: number;
  cpuMs: number;
  /** How often the kernel had to end a process because the memory was used up. */
  oomKills: number;
}

/** How often a limit was met, counted since the group was made. */
export interface LimitHits {
  oomKills: number;
  /** Processes that could not be started because there were as many as may be. */
  refusedForks: number;
  maxProcesses: number;
}

/** The limits of one sandbox. */
export interface LimitGroup {
  /** Files that take whoever writes `0` into the group. */
  readonly entrances: readonly string[];
  usage(): GroupUsage | undefined;
  /** All that is held for it by programs, by the kernel and as files on its disk, but no copies of files of the host. */
  heldBytes(): number | undefined;
  /** The processes in it. */
  members(): number[];
  /** Undefined where nothing counts it. Cheap enough for every command. */
  hits(): LimitHits | undefined;
  /** Gives the group back; it has to be empty, and is soon after its last process ended. */
  release(): Promise<void>;
}

export interface Limiter {
  readonly kind: 'cgroup2' | 'cgroup1' | 'watchdog';
  make(id: string, limits: Limits): LimitGroup;
  /** Removes the groups of daemons that no longer live, with what runs in them. */
  sweep(): Promise<void>;
}

/** The strongest that this system lets us use. */
export function openLimiter(): Limiter {
  return CgroupV2Limiter.open() ?? CgroupV1Limiter.open() ?? new NoLimiter();
}

/** Without cgroups the launcher limits each process and watches what all hold together; QEMU's machines have their size. */
class NoLimiter implements Limiter {
  readonly kind = 'watchdog';

  make(): LimitGroup {
    return {
      entrances: [],
      usage: () => undefined,
      heldBytes: () => undefined,
      members: () => [],
      hits: () => undefined,
      release: async () => {},
    };
  }

  async sweep(): Promise<void> {}
}
