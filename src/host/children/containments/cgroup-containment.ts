/**
 * A cgroup for every job. Whatever a process does to its session, group, parent or signals, it stays in the cgroup.
 *
 * The server's thread enters the job's group, forks, and leaves again within one turn, so the child is born inside.
 * That costs a tenth of a shell that would move itself and then exec the program.
 */
import { randomBytes } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';

import type { CgroupKind } from './cgroup-kinds.ts';
import { Cgroup } from './cgroup.ts';
import { Guardian, GUARDIAN_SCANS } from './guardian.ts';
import { staleCgroups, ownedGroup } from './stale-cgroups.ts';
import type { Command, ContainedProcess, ContainmentMethod } from './containment.ts';
import { ensureStarted, spawnCommand } from '../spawn-command.ts';

const PREFIX = 'workcell-jobs.';

/** $1 is the directory above the groups of all jobs. */
const guardianScript = ({ halt, members }: CgroupKind) => `
  end() {
    for group in "$1"/*/; do [ ! -d "$group" ] || end "\${group%/}"; done
    while read -r id; do kill -9 "$id"; done < "$1/${members}"
    rmdir "$1"
  }
  echo ${halt.value} > "$1/${halt.file}"
  for scan in ${GUARDIAN_SCANS}; do
    end "$1"
    [ -d "$1" ] || exit 0
    sleep 0.05
  done`;

export class CgroupContainment implements ContainmentMethod {
  readonly name: CgroupKind['name'];
  readonly #kind: CgroupKind;
  readonly #wayBack: number;
  readonly #topPath: string;
  readonly #guardian: Guardian;
  /** Parent of the groups of all jobs; made for the first job, so that a server without jobs leaves no trace. */
  #top: Cgroup | undefined;
  #count = 0;

  private constructor(kind: CgroupKind, home: string) {
    this.name = kind.name;
    this.#kind = kind;
    this.#wayBack = openSync(join(home, kind.entrance), 'r+');
    this.#topPath = ownedGroup(home, PREFIX, randomBytes(4).toString('hex'));
    this.#guardian = new Guardian(guardianScript(kind), [this.#topPath]);
  }

  /** `home` is the server's own cgroup. Throws the system's error if it cannot be used. */
  static async open(kind: CgroupKind, home: string | undefined): Promise<CgroupContainment> {
    if (home === undefined) throw new Error(`this system shows no ${kind.name}`);
    const containment = new CgroupContainment(kind, home);
    try {
      containment.#probe();
    } catch (error) {
      closeSync(containment.#wayBack);
      throw error;
    }
    await endLeftJobs(kind, home);
    return containment;
  }

  async start(command: Command): Promise<ContainedProcess> {
    this.#guardian.ensure();
    this.#top ??= Cgroup.make(this.#topPath, this.#kind);
    const group = Cgroup.make(join(this.#topPath, String(this.#count++)), this.#kind);
    try {
      const process = this.#inside(group, () => spawnCommand(command));
      await ensureStarted(process, command);
      return { process, group };
    } catch (error) {
      group.release();
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#top?.release();
    await this.#guardian.close();
    closeSync(this.#wayBack);
  }

  #inside<T>(group: Cgroup, work: () => T): T {
    group.write(this.#kind.entrance, '0');
    try {
      return work();
    } finally {
      writeSync(this.#wayBack, '0');
    }
  }

  /** Tries enter, leave and halt at startup, so that a failure does not first show in a job. */
  #probe(): void {
    const group = Cgroup.make(this.#topPath, this.#kind);
    try {
      this.#inside(group, () => {});
      group.write(this.#kind.halt.file, this.#kind.halt.value);
    } finally {
      group.release();
    }
  }
}

/** Ends jobs whose server was killed together with its guardian. Skips those of another user. */
async function endLeftJobs(kind: CgroupKind, home: string): Promise<void> {
  const ends = staleCgroups(home, PREFIX).map(async (path) => {
    const group = new Cgroup(path, kind);
    await group.kill();
    group.release();
  });
  await Promise.allSettled(ends);
}
