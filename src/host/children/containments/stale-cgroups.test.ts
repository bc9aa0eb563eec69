import { expect, test } from 'vitest';

import { tempDir } from '#testing/basics';
import { OWN_MARK, PID_SPACE } from '../../system/process-mark.ts';
import { staleCgroups } from './stale-cgroups.ts';

const [OWN_PID = '', OWN_START = ''] = OWN_MARK.split('-');
const dead = (name: string) => `jobs.999999999-5.${PID_SPACE}.${name}`;

test('returns the groups of ended servers at any depth, and no others', async () => {
  const inRoot = [
    dead('left'),
    `jobs.${OWN_MARK}.${PID_SPACE}.living`,
    `jobs.${OWN_PID}-${Number(OWN_START) - 1}.${PID_SPACE}.id-given-out-again`,
    'jobs.999999999-5.1.of-another-container',
    `other.999999999-5.${PID_SPACE}.one`,
    'own',
    `theirs/inner/${dead('deep')}`,
  ];
  await using dir = await tempDir({
    'cgroup.procs': '',
    'own/cgroup.procs': '',
    ...Object.fromEntries(inRoot.map((path) => [`${path}/`, ''])),
  });
  const found = staleCgroups(dir.path('own'), 'jobs.').map((path) => path.slice(dir.root.length + 1));
  expect(new Set(found)).toEqual(new Set([inRoot[0], inRoot[2], inRoot[6]]));
});

test('does not return the group that the server itself runs in', async () => {
  const own = `${dead('job')}/0`;
  await using dir = await tempDir({
    'cgroup.procs': '',
    [`${dead('job')}/cgroup.procs`]: '',
    [`${own}/cgroup.procs`]: '',
    [`${own}/${dead('below')}/`]: '',
  });
  expect(staleCgroups(dir.path(own), 'jobs.')).toEqual([dir.path(`${own}/${dead('below')}`)]);
});
