/**
 * One directory of a cgroup hierarchy: settings written, counters read, removed when its last process is gone.
 */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as passed } from 'node:timers/promises';

import { leftGroups, ownedGroup } from '#host';

const PREFIX = 'workcell-sandbox.';

/** A process that was killed leaves its group a moment later. */
const REMOVE_MS = 5000;
const LOOK_EVERY_MS = 5;

/** What reading a file of a removed group fails with: opened before its removal, or after. */
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

  /** Some files are there only when the kernel was built for what they set. */
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

  /** Again and again until the kernel lets it go. */
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
      await passed(LOOK_EVERY_MS);
    }
  }
}

/** Pages of files that the kernel can read again, by the text of a `memory.stat`. */
export function cachedBytes(stat: string, prefix = ''): number {
  const lines = stat.matchAll(new RegExp(`^${prefix}(?:in)?active_file (\\d+)$`, 'gm'));
  return [...lines].reduce((sum, [, bytes]) => sum + Number(bytes), 0);
}

/** Ends and removes what other daemons left in a hierarchy. Those elsewhere may not be ours to remove. */
export async function sweepHierarchy(parent: string): Promise<void> {
  for (const dir of leftGroups(parent, PREFIX).map((path) => new CgroupDir(path))) {
    try {
      killIfThere(dir);
      await dir.remove();
    } catch (error) {
      if (dirname(dir.path) === parent) throw error;
    }
  }
}

/** Another daemon that starts this moment sweeps too, and may have removed it first. */
function killIfThere(dir: CgroupDir): void {
  try {
    dir.killMembers();
  } catch (error) {
    if (!GONE.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}
