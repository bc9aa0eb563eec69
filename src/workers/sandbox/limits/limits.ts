/**
 * Resource limits of a sandbox, enforced by the kernel: memory, processes and CPU time.
 *
 * The disk of a sandbox is in memory and counts as memory, so a cgroup may use both together; the disk's file system
 * has its own size, and memory-watch.ts limits programs to their part. See
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
  /** Memory without the files on the disk. */
  memoryBytes: number;
  /** Memory in files: the disk, and shared memory of programs. */
  sharedBytes: number;
  pids: number;
  cpuMs: number;
  /** How often the kernel killed a process because memory was used up. */
  oomKills: number;
}

/** How often a limit was hit, since the group was made. */
export interface LimitHits {
  oomKills: number;
  /** Forks refused because of the process limit. */
  refusedForks: number;
  maxProcesses: number;
}

/** The limits of one sandbox. */
export interface LimitGroup {
  /** Files that move a process which writes `0` into the group. */
  readonly entrances: readonly string[];
  usage(): GroupUsage | undefined;
  /** All memory of programs, the kernel and files on its disk, without the page cache of host files. */
  usedBytes(): number | undefined;
  /** The processes in it. */
  members(): number[];
  /** Undefined if nothing counts it. Cheap enough for every command. */
  hits(): LimitHits | undefined;
  /** Removes the group, which is empty soon after its last process ended. */
  release(): Promise<void>;
}

export interface Limiter {
  readonly kind: 'cgroup2' | 'cgroup1' | 'watchdog';
  make(id: string, limits: Limits): LimitGroup;
  /** Removes the groups of dead daemons, with their processes. */
  sweep(): Promise<void>;
}

/** The strongest limiter that this system allows. */
export function openLimiter(): Limiter {
  return CgroupV2Limiter.open() ?? CgroupV1Limiter.open() ?? NO_LIMITER;
}

/** Without cgroups the launcher limits each process and their sum; machines of QEMU are limited by their size. */
const NO_LIMITER: Limiter = {
  kind: 'watchdog',
  make: () => ({
    entrances: [],
    usage: () => undefined,
    usedBytes: () => undefined,
    members: () => [],
    hits: () => undefined,
    release: async () => {},
  }),
  sweep: async () => {},
};
