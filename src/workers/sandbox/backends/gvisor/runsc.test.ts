import { chmodSync } from 'node:fs';

import { expect, test } from 'vitest';

import { tempDir, type TempDir } from '#testing';
import { askRunsc, findRunsc, fingerprintOf } from './runsc.ts';

/** A program that reports the version and options of a build of runsc. */
async function build(version: string, options: readonly string[]): Promise<TempDir> {
  const flags = options.map((name) => `  -${name} value\n    \twhat it does (-not-an-option)`).join('\n');
  const script = `#!/bin/sh\nif [ "$1" = flags ]; then cat <<'E'\n${flags}\nE\nelse echo 'runsc version ${version}'; echo spec: 1.0; fi\n`;
  const dir = await tempDir({ runsc: script });
  chmodSync(dir.path('runsc'), 0o755);
  return dir;
}

test.each([
  ['a build with a layer of its own', ['network', 'ignore-cgroups', 'rootless', 'overlay2'], true, ['--overlay2=none']],
  ['one without', ['network', 'ignore-cgroups', 'rootless', 'overlay'], true, []],
  ['an ordinary user', ['network', 'ignore-cgroups', 'rootless'], false, ['--rootless']],
])('%s gets the options that it knows', async (_, known, isRoot, more) => {
  await using dir = await build('release-2024', known);
  const path = dir.path('runsc');
  expect(await askRunsc(path, { isRoot })).toEqual({
    path,
    version: 'release-2024',
    options: ['--network=none', '--ignore-cgroups', ...more],
  });
});

test('a build that lacks what a sandbox is promised is refused by name', async () => {
  await using dir = await build('2018', ['network', 'overlay']);
  await expect(askRunsc(dir.path('runsc'), { isRoot: true })).rejects.toThrow(
    /runsc has no option ignore-cgroups, rootless: install a newer gVisor$/,
  );
});

test('it is the first program of that name on the PATH, and no directory', async () => {
  await using none = await tempDir({ 'runsc/': '' });
  await using first = await build('1', []);
  await using second = await build('2', []);
  expect(findRunsc(`${none.root}:${first.root}:${second.root}`)).toBe(first.path('runsc'));
  expect(findRunsc(none.root)).toBeUndefined();
});

test('another program has another fingerprint, and none has an empty one', async () => {
  await using first = await build('1', []);
  await using second = await build('2', []);
  const [one, two] = [first, second].map((dir) => fingerprintOf(dir.path('runsc')));
  expect(one).not.toBe(two);
  expect(fingerprintOf(undefined)).toBe('');
});
