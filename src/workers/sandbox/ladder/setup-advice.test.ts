import { expect, test } from 'vitest';

import { tempDir } from '#testing';
import { BACKENDS } from '../backends/list.ts';
import { missingFor, needsOf } from '../backends/needs.ts';
import { worthHaving, worthSettingUp } from './setup-advice.ts';

test('a backend lacks what no folder of the PATH has, and any of several programs will do', async () => {
  await using dir = await tempDir({ 'a/gcc': '', 'b/mmdebstrap': '' });
  const packagesFor = (path: string) =>
    missingFor(
      BACKENDS.find(({ name }) => name === 'gvisor')!,
      path,
    ).map((need) => need.package);
  expect(packagesFor(dir.path('none'))).toEqual(['musl-tools', 'mmdebstrap', 'runsc']);
  expect(packagesFor(`${dir.path('a')}:${dir.path('b')}`)).toEqual(['runsc']);
});

test('each need is named once for a processor, and says what for', () => {
  for (const backend of BACKENDS) {
    const needs = needsOf(backend);
    expect(new Set(needs.map((need) => need.package)).size).toBe(needs.length);
    expect(needs.filter((need) => need.for === '')).toEqual([]);
  }
});

test('only what was wanted and lacks a program is worth setting up', async () => {
  await using dir = await tempDir();
  const { PATH } = process.env;
  process.env.PATH = dir.root;
  try {
    expect(worthSettingUp(['qemu', 'gvisor', 'namespaces'])).toBe(worthHaving()[0]?.name);
    expect(worthSettingUp(['namespaces'])).toBe('namespaces');
    expect(worthSettingUp([])).toBeUndefined();
  } finally {
    process.env.PATH = PATH;
  }
});
