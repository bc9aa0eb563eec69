/**
 * Finds out which limit of its sandbox a command hit, if any. The exit code does not show it: 137 is any SIGKILL, and a
 * program that could not fork exits with any code.
 *
 * If only the guest counts, its counters are read after a failed command and compared with those before.
 */
import type { LiveSandbox } from './live-sandbox.ts';

export type KilledBy = 'memory' | 'processes';

export interface LimitHit {
  /** Undefined if the limit is only likely. */
  killedBy: KilledBy | undefined;
  /** Line for standard error, which every caller gets. */
  line: string;
}

/** Signals, by exit code, that gVisor's kernel sends to a program that uses more memory than there is. */
const FAULTS = new Map([
  [128 + 11, 'SIGSEGV'],
  [128 + 7, 'SIGBUS'],
]);

type Counts = { oomKills: number; refusedForks: number; maxProcesses?: number };

const NONE: Counts = { oomKills: 0, refusedForks: 0 };

/** Last known counts of a machine's guest. */
const counted = new WeakMap<LiveSandbox, Counts>();

/** Reads the counters now; the returned function reads them again after a failed command. */
export function watchLimits(sandbox: LiveSandbox): (exitCode: number) => Promise<LimitHit | undefined> {
  const before = sandbox.instance.limitHits?.() ?? counted.get(sandbox) ?? NONE;
  return async (exitCode) => {
    const now = await countsOf(sandbox);
    counted.set(sandbox, now);
    if (now.oomKills > before.oomKills) return outOfMemory(sandbox);
    if (now.refusedForks > before.refusedForks) return outOfProcesses(now);
    const fault = sandbox.facts.isolation === 'userspace-kernel' ? FAULTS.get(exitCode) : undefined;
    return fault === undefined ? undefined : perhapsOutOfMemory(sandbox, fault);
  };
}

/** Kills that are reported as events. */
const reported = new WeakMap<LiveSandbox, number>();

/** Ignores errors: a machine that is ending cannot answer. */
export async function newOomKills(sandbox: LiveSandbox): Promise<number> {
  const { oomKills } = await countsOf(sandbox);
  const before = reported.get(sandbox) ?? 0;
  if (oomKills > before) reported.set(sandbox, oomKills);
  return Math.max(0, oomKills - before);
}

async function countsOf({ instance }: LiveSandbox): Promise<Counts> {
  if (instance.limitHits) return instance.limitHits() ?? NONE;
  // A machine that ends meanwhile cannot answer.
  const usage = await instance.usage().catch(() => undefined);
  return { ...NONE, oomKills: usage?.oomKills ?? 0 };
}

function outOfMemory({ facts }: LiveSandbox): LimitHit {
  const line = `workcell: killed: the memory of the sandbox is used up (memory_mb is ${facts.shape.memoryMb}); create one with more\n`;
  return { killedBy: 'memory', line };
}

/** gVisor's kernel reports nothing more specific. */
function perhapsOutOfMemory({ facts }: LiveSandbox, fault: string): LimitHit {
  const line = `workcell: ${fault}: on gVisor a program that takes more memory than there is ends so too (memory_mb is ${facts.shape.memoryMb})\n`;
  return { killedBy: undefined, line };
}

function outOfProcesses({ maxProcesses }: Counts): LimitHit {
  const most = maxProcesses === undefined ? '' : ` (${maxProcesses})`;
  return {
    killedBy: 'processes',
    line: `workcell: the sandbox has as many processes as it may have${most}; end some, or use another sandbox\n`,
  };
}
