/**
 * One directory of a cgroup hierarchy: settings written, counters read, removed when its last process is gone.
 *
 * Directories are named after the daemon that made them, and after where its process id means something. So the next
 * one knows whose owner no longer lives, also when it stands elsewhere in the hierarchy itself.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as passed } from 'node:timers/promises';

import { isAlive, OWN_MARK } from '../images/process-mark.ts';

const PREFIX = 'workcell-sandbox.';

/** The process ids that ours is one of. */
const PID_SPACE = pidSpace();

/** Groups looked at when a hierarchy is swept. */
const MAX_LOOKED = 20_000;

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
    const path = join(parent, `${PREFIX}${OWN_MARK}.${PID_SPACE}.${id}`);
    mkdirSync(path);
    return new CgroupDir(path);
  }

  /** Those whose daemon no longer lives. */
  static leftBehind(parent: string): CgroupDir[] {
    return groupsIn(parent)
      .filter(isLeft)
      .map((name) => new CgroupDir(join(parent, name)));
  }

  /** The same in the whole hierarchy that the directory is in. */
  static leftAnywhere(parent: string): CgroupDir[] {
    let top = parent;
    while (existsSync(join(dirname(top), 'cgroup.procs'))) top = dirname(top);
    const found: CgroupDir[] = [];
    const waiting = [top];
    for (let looked = 0; looked < MAX_LOOKED; looked++) {
      const path = waiting.pop();
      if (path === undefined) break;
      found.push(...CgroupDir.leftBehind(path));
      waiting.push(...groupsIn(path).map((name) => join(path, name)));
    }
    return found;
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
  for (const dir of CgroupDir.leftAnywhere(parent)) {
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

/** The owner of one from elsewhere, such as another container, cannot be asked after. */
function isLeft(name: string): boolean {
  if (!name.startsWith(PREFIX)) return false;
  const [owner = '', space] = name.slice(PREFIX.length).split('.');
  return space === PID_SPACE && !isAlive(owner);
}

/** Groups come and go while they are looked at. */
function groupsIn(path: string): string[] {
  try {
    const entries = readdirSync(path, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch {
    return [];
  }
}

function pidSpace(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))![0];
  } catch {
    return '0';
  }
}
