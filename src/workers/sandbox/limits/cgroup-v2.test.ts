/** Version 2 as the files it consists of. The machines that run the tests have version 1, which the backends' tests use. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { tempDir } from '#testing';
import { sweepHierarchy } from './cgroup-dir.ts';
import { CgroupV2Limiter } from './cgroup-v2.ts';

const LIMITS = { memoryMb: 512, diskMb: 1024, cpus: 1.5, maxProcesses: 100 };

test('a group has the limits of its sandbox, memory and disk together', async () => {
  await using dir = await tempDir({ 'cgroup.controllers': 'cpuset cpu io memory pids\n', 'cgroup.procs': '' });
  const limiter = CgroupV2Limiter.open(dir.root, '/nowhere');
  const [entrance] = limiter!.make('one', LIMITS).entrances;

  expect(entrance).toMatch(/\/workcell-sandboxes\/workcell-sandbox\.\d+-\d+\.\d+\.one\/cgroup\.procs$/);
  const set = (file: string) => readFileSync(entrance!.replace('cgroup.procs', file), 'utf8');
  expect(['memory.max', 'pids.max', 'cpu.max'].map(set)).toEqual(['1610612736', '100', '150000 100000']);
  expect(readFileSync(dir.path('cgroup.subtree_control'), 'utf8')).toBe('+memory +pids +cpu');
  expect(readFileSync(dir.path('workcell-sandboxes/cgroup.subtree_control'), 'utf8')).toBe('+memory +pids +cpu');
});

test('a group that another daemon removes in the middle of a sweep is not a failure', async () => {
  // Without its file cgroup.procs, as a group between its removal and the next listing.
  const space = /\d+/.exec(readlinkSync('/proc/self/ns/pid'))![0];
  await using dir = await tempDir({ [`workcell-sandbox.999999999-5.${space}.one/`]: '' });
  await sweepHierarchy(dir.root);
  expect(readdirSync(dir.root)).toEqual([]);
});

test('what a group uses is read from its counters', async () => {
  await using dir = await tempDir({ 'cgroup.controllers': 'cpu memory pids', 'cgroup.procs': '' });
  const group = CgroupV2Limiter.open(dir.root, '/nowhere')!.make('one', LIMITS);
  const folder = group.entrances[0]!.slice(dir.root.length + 1, -'cgroup.procs'.length);
  dir.add({
    [`${folder}memory.stat`]: 'anon 4096\nfile 9\nshmem 8192\ninactive_file 100\nactive_file 20\n',
    [`${folder}memory.current`]: '20000\n',
    [`${folder}cgroup.procs`]: '7\n12\n',
    [`${folder}pids.current`]: '3\n',
    [`${folder}cpu.stat`]: 'usage_usec 2500\nuser_usec 1\n',
    [`${folder}memory.events`]: 'low 0\noom 2\noom_kill 1\n',
    [`${folder}pids.events`]: 'max 7\n',
  });
  expect(group.usage()).toEqual({ memoryBytes: 4096, sharedBytes: 8192, pids: 3, cpuMs: 3, oomKills: 1 });
  expect(group.usedBytes()).toBe(19_880);
  expect(group.members()).toEqual([7, 12]);
  expect(group.hits()).toEqual({ oomKills: 1, refusedForks: 7, maxProcesses: 100 });
});

test.each([
  ['a controller is missing', { 'cgroup.controllers': 'memory pids' }],
  ['there is no such hierarchy', {}],
])('it is not used when %s', async (_, entries) => {
  await using dir = await tempDir(entries);
  expect(CgroupV2Limiter.open(dir.root, dir.root)).toBeUndefined();
});

test('a group that has no controllers to give is passed over for the nearest above it that has', async () => {
  const given = { 'cgroup.controllers': 'cpu memory pids', 'cgroup.procs': '' };
  await using dir = await tempDir({
    'user.slice/cgroup.controllers': 'cpu memory pids',
    'user.slice/user@1000.service/app.slice/cgroup.controllers': given['cgroup.controllers'],
    'user.slice/user@1000.service/app.slice/cgroup.procs': '',
    'user.slice/user@1000.service/app.slice/terminal.scope/cgroup.controllers': 'memory pids',
  });
  const app = dir.path('user.slice/user@1000.service/app.slice');
  const limiter = CgroupV2Limiter.open(join(app, 'terminal.scope'), dir.root);
  expect(limiter!.make('one', LIMITS).entrances[0]).toMatch(join(app, 'workcell-sandboxes', '/'));
});
