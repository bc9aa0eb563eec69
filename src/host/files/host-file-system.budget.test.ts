/** A call on many files does not block the rest of the process. */
import { mkdirSync, writeFileSync } from 'node:fs';

import { expect, test } from 'vitest';

import { tempDir, watchTurns } from '#testing';
import { HostFileSystem } from './host-file-system.ts';

const LONGEST_MS = 150;
const scope = { signal: new AbortController().signal };

test('sed in many missing files yields to the event loop', async () => {
  await using dir = await tempDir();
  const files = new HostFileSystem({ roots: [dir.root], protect: [], deniedPaths: [], isSynced: false });
  const longestTurn = watchTurns();
  const where = { files: Array.from({ length: 10_000 }, (_, i) => dir.path(`${i}`)) };
  const edit = { pattern: 'a', replacement: 'b', isRegex: true, firstOnly: false, ignoreCase: false };
  const results = await files.sed({ where, ...edit }, scope);
  expect(longestTurn()).toBeLessThan(LONGEST_MS);
  expect(results.filter(({ problem }) => problem?.endsWith('does not exist'))).toHaveLength(10_000);
  await files.close();
}, 60_000);

test.each(['descriptor', 'portable'] as const)(
  'chmod and rm of a tree of many files yield to the event loop, %s',
  async (mode) => {
    await using dir = await tempDir({ 'ws/': '' });
    for (let folder = 0; folder < 20; folder++) {
      mkdirSync(dir.path(`ws/tree/${folder}`), { recursive: true });
      for (let file = 0; file < 200; file++) writeFileSync(dir.path(`ws/tree/${folder}/${file}`), '');
    }
    const files = new HostFileSystem({ roots: [dir.path('ws')], protect: [], deniedPaths: [], mode, isSynced: false });
    const longestTurn = watchTurns();
    await files.chmod(dir.path('ws/tree'), { mode: 0o700, recursive: true }, scope);
    await files.rm(dir.path('ws/tree'), { recursive: true }, scope);
    expect(longestTurn()).toBeLessThan(LONGEST_MS);
    await files.close();
  },
);
