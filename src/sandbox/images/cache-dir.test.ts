import { homedir } from 'node:os';

import { expect, test } from 'vitest';

import { defaultCacheDir } from './cache-dir.ts';

test.each([
  ['/var/cache/me', '/var/cache/me/workcell/sandbox'],
  ['relative', `${homedir()}/.cache/workcell/sandbox`],
  ['', `${homedir()}/.cache/workcell/sandbox`],
  [undefined, `${homedir()}/.cache/workcell/sandbox`],
])('with XDG_CACHE_HOME %s images are in %s', (named, expected) => {
  expect(defaultCacheDir({ XDG_CACHE_HOME: named })).toBe(expected);
});
