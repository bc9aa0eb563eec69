import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';

import { expect, test } from 'vitest';

import { tempDir } from '#testing/basics';
import { sessionGuardianScript } from './containments/session-guardian.ts';
import { listProcesses, membersOf, newestPid, type ProcessInfo } from './processes.ts';

/** pid, parent, group, session, mark */
type Row = [number, number, number, number, string?];
const table = (rows: Row[]): ProcessInfo[] =>
  rows.map(([pid, ppid, pgid, sid, mark]) => ({ pid, ppid, pgid, sid, mark }));

test.each<[string, Row[], number[]]>([
  ['none', [[2, 1, 2, 2]], []],
  [
    'its session',
    [
      [10, 5, 10, 10],
      [11, 10, 11, 10],
    ],
    [10, 11],
  ],
  ['its group, should one have moved it', [[11, 1, 10, 3]], [11]],
  [
    'those with its mark',
    [
      [20, 1, 20, 20, 'a'],
      [21, 1, 21, 21, 'b'],
    ],
    [20],
  ],
  [
    'all that descend from them, in any order',
    [
      [7, 8, 7, 7],
      [8, 20, 8, 8],
      [20, 1, 20, 20, 'a'],
      [9, 1, 9, 9],
    ],
    [7, 8, 20],
  ],
])('the members of a job are %s', (_, rows, members) => {
  expect(membersOf(new Set([{ leader: 10, mark: 'a' }]), table(rows)).toSorted((a, b) => a - b)).toEqual(members);
});

test('an unmarked process is not a member of an unmarked job', () => {
  expect(membersOf(new Set([{ leader: 10, mark: undefined }]), table([[2, 1, 2, 2]]))).toEqual([]);
});

test('lists living processes with their marks', async () => {
  const child = spawn('sleep', ['30'], { env: { PATH: process.env.PATH, MARK: 'm-42' }, detached: true });
  try {
    const pattern = /(?:^|\0)MARK=(m-\d+)\0/;
    await expect
      .poll(async () => (await listProcesses({ file: 'environ', pattern })).find(({ pid }) => pid === child.pid))
      .toEqual({ pid: child.pid, ppid: process.pid, pgid: child.pid, sid: child.pid, mark: 'm-42' });
  } finally {
    child.kill('SIGKILL');
  }
});

/** The state is that of its first thread, which has ended. */
const PLAYS_DEAD = `
#include <pthread.h>
#include <unistd.h>
static void *stay(void *unused) { write(1, "x", 1); for (;;) pause(); return unused; }
int main(void) { pthread_t other; return pthread_create(&other, 0, stay, 0) || (pthread_exit(0), 1); }
`;
const canBuild = process.platform === 'linux' && spawnSync('gcc', ['--version']).status === 0;

test.runIf(canBuild)('a process lives as long as one of its threads, and the guardian kills it', async () => {
  await using dir = await tempDir({ 'dead.c': PLAYS_DEAD });
  execFileSync('gcc', ['-pthread', '-o', dir.path('dead'), dir.path('dead.c')], { stdio: 'pipe' });
  const child = spawn(dir.path('dead'), { detached: true });
  const ended = once(child, 'exit');
  try {
    await once(child.stdout, 'data');
    const find = async () => (await listProcesses()).find(({ pid }) => pid === child.pid);
    await expect
      .poll(find)
      .toEqual({ pid: child.pid, ppid: process.pid, pgid: child.pid, sid: child.pid, mark: undefined });

    // Found by its number only: its group is not passed.
    const script = sessionGuardianScript.replace('for leader in $last_line; do kill -9 "-$leader"; done', '');
    spawnSync('/bin/sh', ['-c', `last_line=${child.pid}\n${script}`, 'guardian', '', '']);
    expect(await ended).toEqual([null, 'SIGKILL']);
  } finally {
    child.kill('SIGKILL');
  }
});

test.runIf(process.platform === 'linux')('the newest process is at least as new as a child just started', () => {
  const child = spawn('true');
  expect(newestPid()).toBeGreaterThanOrEqual(child.pid!);
});
