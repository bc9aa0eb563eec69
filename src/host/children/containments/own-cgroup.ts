/** The directories of this process in the cgroup hierarchies, which it may or may not be allowed to write. */
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Version 2, or the hierarchy of a controller in version 1. */
export type Hierarchy = 'unified' | 'pids' | 'memory' | 'cpu' | 'cpuacct';

/** Undefined when there is none or it is not visible. */
export function ownCgroup(hierarchy: Hierarchy): string | undefined {
  if (process.platform !== 'linux') return undefined;
  return locate(hierarchy, {
    memberships: readFileSync('/proc/self/cgroup', 'utf8'),
    mounts: readFileSync('/proc/self/mountinfo', 'utf8'),
  });
}

/** The same for given file contents. */
export function locate(hierarchy: Hierarchy, texts: { memberships: string; mounts: string }) {
  const path = memberPath(hierarchy, texts.memberships);
  if (path === undefined) return undefined;

  for (const line of texts.mounts.split('\n')) {
    const [fields, details] = line.split(' - ');
    const [type, , options] = (details ?? '').split(' ');
    const isWanted =
      hierarchy === 'unified' ? type === 'cgroup2' : type === 'cgroup' && options!.split(',').includes(hierarchy);
    if (!isWanted) continue;

    const [, , , root, mountPoint] = fields!.split(' ');
    const below = relative(root!, path);
    if (!below.startsWith('..')) return join(mountPoint!, below);
  }
  return undefined;
}

/** Lines are `number:controllers:path`; version 2 has number 0 and no controllers. */
function memberPath(hierarchy: Hierarchy, memberships: string): string | undefined {
  for (const line of memberships.split('\n')) {
    const [, controllers, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (hierarchy === 'unified' ? controllers === '' : controllers?.split(',').includes(hierarchy)) return path;
  }
  return undefined;
}
