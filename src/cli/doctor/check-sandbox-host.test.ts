import { chmodSync } from 'node:fs';

import { expect, test } from 'vitest';

import { NOBODY_UID, tempDir } from '#testing';
import { checkCache } from './check-sandbox-host.ts';

/** Folders of an image may belong to others. Not for root, which can read every folder. */
function asNobody<T>(work: () => T): T {
  if (process.geteuid!() !== 0) return work();
  process.seteuid!(NOBODY_UID);
  try {
    return work();
  } finally {
    process.seteuid!(0);
  }
}

test.skipIf(process.platform === 'win32')(
  'skips folders and files of the cache that it has no permission to read',
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

test('a missing cache has size 0', async () => {
  await using dir = await tempDir();
  expect(checkCache(dir.path('not/there')).detail).toMatch(/ holds 0\.0 GB; /);
});
