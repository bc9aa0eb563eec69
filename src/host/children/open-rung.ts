/** Picks the containment of jobs: the first that works when tried, strongest first. */
import type { Log } from '#contract';
import { cgroup1, cgroup2 } from './cgroup-kinds.ts';
import { CgroupRung } from './cgroup-rung.ts';
import { ownCgroup } from './own-cgroup.ts';
import { PidNamespaceRung } from './pid-namespace-rung.ts';
import { CONTAINMENTS, type Containment, type Rung } from './rung.ts';
import { SessionRung } from './session-rung.ts';

const OPENERS: Record<Containment, () => Rung | Promise<Rung>> = {
  cgroup2: () => CgroupRung.open(cgroup2, ownCgroup('unified')),
  cgroup1: () => CgroupRung.open(cgroup1, ownCgroup('pids')),
  'pid-namespace': () => PidNamespaceRung.open(),
  session: () => SessionRung.open(),
};

export async function openRung({ name, log }: { name?: Containment; log: Log }): Promise<Rung> {
  if (name !== undefined) return OPENERS[name]();

  for (const candidate of CONTAINMENTS.slice(0, -1)) {
    try {
      return await OPENERS[candidate]();
    } catch (error) {
      log.debug(`jobs cannot be held by ${candidate} here`, { reason: String(error) });
    }
  }
  return OPENERS.session();
}
