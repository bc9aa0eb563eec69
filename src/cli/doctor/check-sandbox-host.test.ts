import { chmodSync } from 'node:fs';

import { expect, test } from 'vitest';

import { tempDir } from '#testing';
import { checkCache } from './check-sandbox-host.ts';

const NOBODY = 65_534;

/** Folders of an image may belong to others. Not for root, which can read every folder. */
function asNobody<T>(work: () => T): T {
  if (process.geteuid!() !== 0) return work();
  process.seteuid!(NOBODY);
  try {
    return work();
  } finally {
    process.seteuid!(0);
  }
}

test.skipIf(process.platform === 'win32')(
  'a folder of the cache that cannot be looked into is passed over',
  async () => {
    await using dir = await tempDir({ 'image/closed/secret': 'x'.repeat(100_000), 'image/seen/file': 'x' });
    for (const path of [dir.root, dir.path('image')]) chmodSync(path, 0o755);
    chmodSync(dir.path('image/closed'), 0);
    // Its names can be read, and nothing else.
    chmodSync(dir.path('image/seen'), 0o744);
    expect(asNobody(() => checkCache(dir.root))).toMatchObject({
      check: 'image cache',
      detail: expect.stringMatching(/ holds 0\.0 GB; \d+\.\d GB are free$/),
    });
    chmodSync(dir.path('image/closed'), 0o755);
  },
);

test('a cache that is not there yet holds nothing', async () => {
  await using dir = await tempDir();
  expect(checkCache(dir.path('not/there')).detail).toMatch(/ holds 0\.0 GB; /);
});
