/**
 * The two versions of cgroups. Both end a group in the same way: forbid its processes to fork, then kill each.
 *
 * Version 2 is used in its threaded form. A thread that moves itself costs nothing; to move the whole server, or any
 * process by its pid, the kernel first waits for every processor, 6 to 12 ms on a quiet machine. The price: threaded
 * groups have no `cgroup.kill`, so they are frozen instead.
 */

export interface CgroupKind {
  name: 'cgroup2' | 'cgroup1';
  /** File that moves the thread which writes `0` to it. A child is born in the group of the thread that forks it. */
  entrance: string;
  /** File that lists the members. */
  members: string;
  /** Written to a new group first. */
  setUp?: Setting;
  /** Stops every member from forking. */
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

/** Version 1, in the hierarchy of the pids controller. */
export const cgroup1: CgroupKind = {
  name: 'cgroup1',
  entrance: 'tasks',
  members: 'cgroup.procs',
  halt: { file: 'pids.max', value: '0' },
};
