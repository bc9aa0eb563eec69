/** Picks the containment of jobs: the first that works when tried, strongest first. */
import type { Log } from '#contract';
import { cgroup1, cgroup2 } from './cgroup-kinds.ts';
import { CgroupContainment } from './cgroup-containment.ts';
import { ownCgroup } from './own-cgroup.ts';
import { PidNamespaceContainment } from './pid-namespace-containment.ts';
import { CONTAINMENTS, type Containment, type ContainmentMethod } from './containment.ts';
import { SessionContainment } from './session-containment.ts';

const OPENERS: Record<Containment, () => ContainmentMethod | Promise<ContainmentMethod>> = {
  cgroup2: () => CgroupContainment.open(cgroup2, ownCgroup('unified')),
  cgroup1: () => CgroupContainment.open(cgroup1, ownCgroup('pids')),
  'pid-namespace': () => PidNamespaceContainment.open(),
  session: () => SessionContainment.open(),
};

export async function openContainment({ name, log }: { name?: Containment; log: Log }): Promise<ContainmentMethod> {
  if (name !== undefined) return OPENERS[name]();

  for (const candidate of CONTAINMENTS.slice(0, -1)) {
    try {
      return await OPENERS[candidate]();
    } catch (error) {
      log.debug(`containment ${candidate} is not available`, { reason: String(error) });
    }
  }
  return OPENERS.session();
}
