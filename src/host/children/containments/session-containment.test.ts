/** Which processes the best effort contains by each of its marks, and the one case that it misses. */
import { readdirSync, readFileSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import { groupMarks, variableMarks } from '../job-marks.ts';
import { SessionContainment } from './session-containment.ts';

const PATH = process.env.PATH!;
const LEAVE = 'setsid sh -c "setsid sleep $NAP </dev/null >/dev/null 2>&1 &"';

describe.runIf(process.platform === 'linux')('a job marked by', () => {
  test.runIf(groupMarks())('a group mark kills a process that changed session, environment and parent', async () => {
    expect(await left(groupMarks()!, `env -i PATH="$PATH" NAP=$NAP ${LEAVE}`)).toBe(0);
  });

  test('a variable mark kills a process that changed session and parent', async () => {
    expect(await left(variableMarks(), LEAVE)).toBe(0);
  });

  test('a variable mark misses a process that also cleared its environment', async () => {
    expect(await left(variableMarks(), `env -i PATH="$PATH" NAP=$NAP ${LEAVE}`)).toBe(1);
  });
});

let count = 0;

/** How many processes that a script detached are alive after the kill; kills them afterwards. */
async function left(marks: NonNullable<ReturnType<typeof groupMarks>>, script: string): Promise<number> {
  const nap = `4720.${process.pid}${count++}`;
  const containment = SessionContainment.open(marks);
  const argv = ['sh', '-c', `${script}; sleep 30`];
  const { process: child, group } = await containment.start({
    argv,
    cwd: '/',
    env: { PATH, NAP: nap },
    stdin: 'ignore',
  });
  try {
    await expect.poll(() => sleepers(nap).length).toBe(1);
    // Orphaned: its parents have ended.
    await expect.poll(() => isChildOfInit(sleepers(nap)[0]!)).toBe(true);
    await group.kill();
    group.release();
    return sleepers(nap).length;
  } finally {
    for (const pid of sleepers(nap)) process.kill(pid, 'SIGKILL');
    child.stdout!.destroy();
    child.stderr!.destroy();
    await containment.close();
  }
}

function sleepers(nap: string): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => readOf(`/proc/${pid}/cmdline`) === `sleep\0${nap}\0`).map(Number);
}

function isChildOfInit(pid: number): boolean {
  const parent = /^PPid:\t(\d+)/m.exec(readOf(`/proc/${pid}/status`))?.[1];
  return readOf(`/proc/${parent}/cmdline`).includes('sh') === false;
}

function readOf(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
