import { expect, test } from 'vitest';

import { missingToBuild, type BuildHost } from './build-needs.ts';

const all = ['mmdebstrap', 'npm', 'newuidmap'];

function host({ programs = all, ...more }: Partial<BuildHost> & { programs?: string[] }): BuildHost {
  const hasProgram = (name: string) => programs.includes(name);
  return { platform: 'linux', isRoot: false, user: 'eve', subuid: 'bob:1:2\neve:100000:65536\n', hasProgram, ...more };
}

test.each<[string, Partial<BuildHost> & { programs?: string[] }, string[]]>([
  ['root with mmdebstrap', { isRoot: true, programs: ['mmdebstrap', 'npm'], subuid: undefined }, []],
  ['root without', { isRoot: true, programs: [] }, ['mmdebstrap', 'npm']],
  ['a user with everything', {}, []],
  ['a user without uidmap', { programs: ['mmdebstrap', 'npm'] }, ['uidmap']],
  ['a user without ids', { subuid: 'bob:1:2\n' }, ['a line for eve in /etc/subuid and /etc/subgid']],
  ['a user of a longer name', { user: 'ev' }, ['a line for ev in /etc/subuid and /etc/subgid']],
  ['another system', { platform: 'darwin' }, ['Linux']],
])('%s lacks what it lacks for node', (_, facts, missing) => {
  expect(missingToBuild('node', host(facts))).toEqual(missing);
});
