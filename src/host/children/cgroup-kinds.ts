/**
 * The two versions of cgroups. Both end a group alike: forbid its processes to fork, then kill each.
 *
 * Version 2 is used in its threaded form. A thread that moves itself costs nothing; to move the whole server, or any
 * process by its number, the kernel first waits for every processor, 6 to 12 ms on a quiet machine. The price is
 * that `cgroup.kill` is not to be had, and freezing takes its place.
 */

export interface CgroupKind {
  name: 'cgroup2' | 'cgroup1';
  /** Takes the thread that writes `0` to it. A child is born where the thread is that forks it. */
  entrance: string;
  /** Lists who is inside. */
  members: string;
  /** What a new group is told first. */
  setUp?: Setting;
  /** From then on nobody inside can fork. */
  halt: Setting;
}

interface Setting {
  file: string;
  value: string;
}

export const cgroup2: CgroupKind = {
  name: 'cgroup2',
  entrance: 'cgroup.threads',
  members: 'cgroup.threads',
  setUp: { file: 'cgroup.type', value: 'threaded' },
  halt: { file: 'cgroup.freeze', value: '1' },
};

/** In the hierarchy of the pids controller. */
export const cgroup1: CgroupKind = {
  name: 'cgroup1',
  entrance: 'tasks',
  members: 'cgroup.procs',
  halt: { file: 'pids.max', value: '0' },
};
