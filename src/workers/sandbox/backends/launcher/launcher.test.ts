import { expect, test } from 'vitest';

import { isRoot, launcherArguments } from './launcher.ts';

const options = { id: '12345678-9', rootDir: '/image', agent: '/agent', diskMb: 64, entrances: ['/a', '/b'] };

test('a launcher gets the paths, the size, the hostname, and every cgroup that limits it', () => {
  const args = launcherArguments(options);
  expect(args.slice(0, 12)).toEqual([
    ...['--root', '/image', '--agent', '/agent', '--disk-mb', '64', '--hostname', 'sandbox-12345678'],
    ...['--cgroup', '/a', '--cgroup', '/b'],
  ]);
  expect(args.length).toBe(isRoot() ? 14 : 12);
});

test.skipIf(!isRoot())('sandboxes that live at the same time share no ids', () => {
  const firstIds = Array.from({ length: 1000 }, () => Number(launcherArguments(options).at(-1)));
  expect(new Set(firstIds).size).toBe(1000);
  expect(firstIds.filter((id) => id < 0x7000_0000 || id + 65_536 > 0x8000_0000 || id % 65_536 !== 0)).toEqual([]);
});
