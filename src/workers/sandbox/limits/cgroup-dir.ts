/**
 * One directory of a cgroup hierarchy: settings written, counters read, removed when its last process is gone.
 *
 * Directories are named after the daemon that made them. So the next one knows whose owner no longer lives.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as passed } from 'node:timers/promises';

import { isAlive, OWN_MARK } from '../images/process-mark.ts';

const PREFIX = 'workcell-sandbox.';

/** A process that was killed leaves its group a moment later. */
const REMOVE_MS = 5000;
const LOOK_EVERY_MS = 5;

/** What reading a file of a removed group fails with: opened before its removal, or after. */
const GONE = new Set(['ENODEV', 'ENOENT']);

export class CgroupDir {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  static make(parent: string, id: string): CgroupDir {
    const path = join(parent, `${PREFIX}${OWN_MARK}.${id}`);
    mkdirSync(path);
    return new CgroupDir(path);
  }

  /** Those whose daemon no longer lives. */
  static leftBehind(parent: string): CgroupDir[] {
    return readdirSync(parent)
      .filter((name) => name.startsWith(PREFIX) && !isAlive(name.slice(PREFIX.length).split('.')[0]!))
      .map((name) => new CgroupDir(join(parent, name)));
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

  killMembers(): void {
    for (const pid of this.read('cgroup.procs').split('\n').filter(Boolean).map(Number)) {
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

/** Ends and removes what other daemons left in a hierarchy. */
export async function sweepHierarchy(parent: string): Promise<void> {
  for (const dir of CgroupDir.leftBehind(parent)) {
    try {
      dir.killMembers();
    } catch (error) {
      // Another daemon that starts this moment sweeps too, and removed it first.
      if (!GONE.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
    await dir.remove();
  }
}
