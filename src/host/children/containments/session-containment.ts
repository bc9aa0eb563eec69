/**
 * Best effort for systems that offer neither cgroups nor namespaces: a session for each job, a mark that its processes
 * inherit, and a scan of all processes for those that left the session.
 *
 * A scan costs milliseconds, so a reply does not wait for it: a process that left the session of a job that ended by
 * itself is killed a moment after the reply. `kill` and `close` wait.
 */
import { setTimeout as sleep } from 'node:timers/promises';

import { awaitGone } from '../await-gone.ts';
import { Guardian } from './guardian.ts';
import { chooseJobMarks, type JobMarks } from '../job-marks.ts';
import { isGroupAlive } from './launcher-containment.ts';
import { listProcesses, membersOf, newestPid, type JobTraits } from '../processes.ts';
import type { Command, ContainedProcess, JobGroup, ContainmentMethod } from './containment.ts';
import { sendSignal } from '../send-signal.ts';
import { sessionGuardianScript } from './session-guardian.ts';
import { ensureStarted, spawnCommand } from '../spawn-command.ts';

/** Jobs that ended within this time share their scans. */
const GATHER_MS = 100;

export class SessionContainment implements ContainmentMethod {
  readonly name = 'session';
  readonly #marks: JobMarks | undefined;
  readonly #guardian: Guardian;
  readonly #jobs = new Set<JobTraits>();
  /** Jobs that ended by themselves, and may have left processes. */
  readonly #ended = new Set<JobTraits>();
  #sweep: Promise<void> | undefined;

  private constructor(marks: JobMarks | undefined) {
    this.#marks = marks;
    this.#guardian = new Guardian(sessionGuardianScript, marks?.guardianWords ?? []);
  }

  static open(marks = chooseJobMarks()): SessionContainment {
    return new SessionContainment(marks);
  }

  async start(command: Command): Promise<ContainedProcess> {
    this.#guardian.ensure();
    const mark = this.#marks?.next(new Set([...this.#jobs].map((job) => job.mark)));
    const process = mark === undefined ? spawnCommand(command) : this.#marks!.put(mark, command, spawnCommand);
    await ensureStarted(process, command);

    const job = { leader: process.pid!, mark };
    this.#jobs.add(job);
    this.#updateGuardian();
    return { process, group: this.#groupOf(job) };
  }

  async close(): Promise<void> {
    await this.#sweep;
    await this.#guardian.close();
  }

  #groupOf(job: JobTraits): JobGroup {
    return {
      releaseIfEmpty: () => {
        if (isGroupAlive(job.leader)) return false;
        // The leader is the newest process of the system, so it has no descendants.
        if (newestPid() === job.leader) this.#forget(job);
        else this.#sweepLater(job);
        return true;
      },
      kill: () => {
        sendSignal(-job.leader, 'SIGKILL');
        return this.#killAll(new Set([job]));
      },
      release: () => this.#forget(job),
    };
  }

  #sweepLater(job: JobTraits): void {
    this.#ended.add(job);
    this.#sweep ??= this.#sweepEnded();
  }

  async #sweepEnded(): Promise<void> {
    while (this.#ended.size > 0) {
      await sleep(GATHER_MS);
      const jobs = new Set(this.#ended);
      await this.#killAll(jobs);
      for (const job of jobs) {
        this.#ended.delete(job);
        this.#forget(job);
      }
    }
    this.#sweep = undefined;
  }

  /** Stops after two scans without a find: a single one may miss a process that is born during it. */
  async #killAll(jobs: ReadonlySet<JobTraits>): Promise<boolean> {
    let quietLooks = 0;
    return await awaitGone(async () => {
      const members = membersOf(jobs, await listProcesses(this.#marks?.pattern));
      for (const pid of members) sendSignal(pid, 'SIGKILL');
      quietLooks = members.length === 0 ? quietLooks + 1 : 0;
      return quietLooks === 2;
    });
  }

  #forget(job: JobTraits): void {
    this.#jobs.delete(job);
    this.#updateGuardian();
  }

  #updateGuardian(): void {
    this.#guardian.setLine([...this.#jobs].map(({ leader }) => leader).join(' '));
  }
}
