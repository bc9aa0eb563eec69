/** One cgroup directory and the groups below it, which a job may have made itself. */
import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { awaitGone } from '../await-gone.ts';
import type { CgroupKind } from './cgroup-kinds.ts';
import type { JobGroup } from './containment.ts';
import { sendSignal } from '../send-signal.ts';

export class Cgroup implements JobGroup {
  readonly path: string;
  readonly #kind: CgroupKind;

  constructor(path: string, kind: CgroupKind) {
    this.path = path;
    this.#kind = kind;
  }

  static make(path: string, kind: CgroupKind): Cgroup {
    mkdirSync(path);
    const group = new Cgroup(path, kind);
    try {
      if (kind.setUp) group.write(kind.setUp.file, kind.setUp.value);
      return group;
    } catch (error) {
      group.release();
      throw error;
    }
  }

  /** Removes the group if it is empty. */
  releaseIfEmpty(): boolean {
    return removeIfEmpty(this.path);
  }

  async kill(): Promise<boolean> {
    ifThere(() => this.write(this.#kind.halt.file, this.#kind.halt.value));
    return await awaitGone(() => {
      const members = membersBelow(this.path, this.#kind.members);
      for (const id of members) sendSignal(id, 'SIGKILL');
      return members.length === 0;
    });
  }

  release(): void {
    removeBelow(this.path);
  }

  write(file: string, value: string): void {
    writeFileSync(join(this.path, file), value, { flag: 'r+' });
  }
}

/** Lists processes or threads: a signal accepts either id. */
function membersBelow(path: string, file: string): number[] {
  const list = ifThere(() => readFileSync(join(path, file), 'latin1')) ?? '';
  const own = list.split('\n').filter(Boolean).map(Number);
  return [...own, ...groupsIn(path).flatMap((group) => membersBelow(group, file))];
}

/** Keeps the group of a process that survived SIGKILL. */
function removeBelow(path: string): void {
  if (removeIfEmpty(path)) return;
  for (const group of groupsIn(path)) removeBelow(group);
  removeIfEmpty(path);
}

function removeIfEmpty(path: string): boolean {
  try {
    rmdirSync(path);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EBUSY') return false;
    if (code === 'ENOENT') return true;
    throw error;
  }
}

function groupsIn(path: string): string[] {
  const entries = ifThere(() => readdirSync(path, { withFileTypes: true })) ?? [];
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(path, name));
}

/** Undefined for a group that is gone: a job may remove groups that it made, and even its own once it has left it. */
function ifThere<T>(use: () => T): T | undefined {
  try {
    return use();
  } catch (error) {
    // ENODEV: the group was removed after it was opened.
    if (!['ENOENT', 'ENODEV'].includes((error as NodeJS.ErrnoException).code!)) throw error;
    return undefined;
  }
}
