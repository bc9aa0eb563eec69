/** One directory of a cgroup hierarchy: writes settings, reads counters, and is removed when its last process is gone. */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as passed } from 'node:timers/promises';

import { staleCgroups, ownedGroup } from '#host';

const PREFIX = 'workcell-sandbox.';

/** A killed process leaves its group a moment later. */
const REMOVE_MS = 5000;
const POLL_MS = 5;

/** Errors of reading a removed group: opened before or after its removal. */
const GONE = new Set(['ENODEV', 'ENOENT']);

export class CgroupDir {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  static make(parent: string, id: string): CgroupDir {
    const path = ownedGroup(parent, PREFIX, id);
    mkdirSync(path);
    return new CgroupDir(path);
  }

  write(file: string, value: string | number): void {
    writeFileSync(join(this.path, file), String(value));
  }

  /** Some files exist only with the matching kernel configuration. */
  has(file: string): boolean {
    return existsSync(join(this.path, file));
  }

  read(file: string): string {
    return readFileSync(join(this.path, file), 'latin1');
  }

  /** A number in a file of `name number` lines. */
  counter(file: string, name: string): number {
    return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(this.read(file))?.[1] ?? 0);
  }

  members(): number[] {
    return this.read('cgroup.procs').split('\n').filter(Boolean).map(Number);
  }

  killMembers(): void {
    if (this.has('cgroup.kill')) return this.write('cgroup.kill', 1);
    for (const pid of this.members()) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
    }
  }

  /** Retries until the kernel allows it. */
  async remove(): Promise<void> {
    const deadline = Date.now() + REMOVE_MS;
    for (;;) {
      try {
        rmdirSync(this.path);
        return;
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code === 'ENOENT') return;
        if (code !== 'EBUSY' || Date.now() > deadline) throw error;
      }
      await passed(POLL_MS);
    }
  }
}

/** Page cache of files that the kernel can read again, from the text of a `memory.stat`. */
export function cachedBytes(stat: string, prefix = ''): number {
  const lines = stat.matchAll(new RegExp(`^${prefix}(?:in)?active_file (\\d+)$`, 'gm'));
  return [...lines].reduce((sum, [, bytes]) => sum + Number(bytes), 0);
}

/** Kills and removes leftovers of dead daemons in a hierarchy. Skips those that this user may not remove. */
export async function sweepHierarchy(parent: string): Promise<void> {
  for (const dir of staleCgroups(parent, PREFIX).map((path) => new CgroupDir(path))) {
    try {
      killIfThere(dir);
      await dir.remove();
    } catch (error) {
      if (dirname(dir.path) === parent) throw error;
    }
  }
}

/** Ignores a missing group: another starting daemon sweeps too, and may have removed it first. */
function killIfThere(dir: CgroupDir): void {
  try {
    dir.killMembers();
  } catch (error) {
    if (!GONE.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}
