import { spawn } from 'node:child_process';

import { expect, test } from 'vitest';

import { listProcesses, membersOf, newestPid, type ProcessInfo } from './processes.ts';

/** pid, parent, group, session, mark */
type Row = [number, number, number, number, string?];
const table = (rows: Row[]): ProcessInfo[] =>
  rows.map(([pid, ppid, pgid, sid, mark]) => ({ pid, ppid, pgid, sid, mark }));

test.each<[string, Row[], number[]]>([
  ['nobody', [[2, 1, 2, 2]], []],
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

test('an unmarked process is no member of an unmarked job', () => {
  expect(membersOf(new Set([{ leader: 10, mark: undefined }]), table([[2, 1, 2, 2]]))).toEqual([]);
});

test('a list has the living processes with their marks', async () => {
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

test.runIf(process.platform === 'linux')('the newest process is at least as new as a child just started', () => {
  const child = spawn('true');
  expect(newestPid()).toBeGreaterThanOrEqual(child.pid!);
});
