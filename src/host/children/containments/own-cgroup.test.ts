import { expect, test } from 'vitest';

import { locate } from './own-cgroup.ts';

const HYBRID = {
  memberships: '4:memory:/a\n3:cpu,pids:/jobs/one\n1:name=systemd:/s\n0::/user/one\n',
  mounts: [
    '30 25 0:26 / /sys/fs/cgroup ro shared:9 - tmpfs tmpfs ro,mode=755',
    '31 30 0:27 / /sys/fs/cgroup/unified rw,nosuid shared:10 - cgroup2 cgroup2 rw,nsdelegate',
    '32 30 0:28 / /sys/fs/cgroup/memory rw shared:11 - cgroup cgroup rw,memory',
    '33 30 0:29 / /sys/fs/cgroup/cpu,pids rw - cgroup cgroup rw,cpu,pids',
    '',
  ].join('\n'),
};

/** A container that sees its own part of the hierarchy as the mount's root. */
const CONTAINER = {
  memberships: '0::/docker/abc/init\n',
  mounts: '31 30 0:27 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n',
};

test.each([
  ['unified', HYBRID, '/sys/fs/cgroup/unified/user/one'],
  ['pids', HYBRID, '/sys/fs/cgroup/cpu,pids/jobs/one'],
  ['unified', CONTAINER, '/sys/fs/cgroup/init'],
  ['pids', CONTAINER, undefined],
  ['unified', { ...CONTAINER, memberships: '0::/\n' }, undefined],
  ['unified', { ...CONTAINER, memberships: '0::/docker/abcdef\n' }, undefined],
  ['unified', { ...HYBRID, memberships: '0::/\n' }, '/sys/fs/cgroup/unified'],
  ['unified', { ...HYBRID, mounts: '' }, undefined],
] as const)('the %s cgroup, case %#', (hierarchy, texts, path) => {
  expect(locate(hierarchy, texts)).toBe(path);
});
