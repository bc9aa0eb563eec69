/** A search with very many matches does not block the rest of the process. */
import { setTimeout as sleep } from 'node:timers/promises';

import { expect, test } from 'vitest';

import { tempDir, watchTurns } from '#testing';
import { openJail } from '../jail/jail.ts';
import { SearchEngine } from './search-engine.ts';

const QUERY = {
  pattern: 'hit',
  isRegex: false,
  ignoreCase: false,
  wantsContent: true,
  wantsPaths: false,
  maxMatches: 1000,
  maxLineBytes: 100,
  contextLines: 0,
};
const ALL = { path: '.', includeGlobs: [], excludeGlobs: [] };
const untilDone = () => ({ signal: new AbortController().signal });

test.runIf(process.platform === 'linux').each([
  ['read', 'off'],
  ['in memory', 'auto'],
] as const)('a hundred thousand matches do not hold up this process, %s', async (_, index) => {
  const line = 'const value = hit(1);\n';
  const files = Array.from({ length: 500 }, (_, i) => [`d${i % 50}/f${i}`, line.repeat(100)]);
  await using dir = await tempDir({ ...Object.fromEntries(files), 'a-large': line.repeat(60_000) });
  const engine = new SearchEngine(openJail(dir.root), {
    ...{ root: dir.root, protectedGlobs: [], index, indexFromFiles: 0 },
    ...{ indexMemoryBytes: 1 << 26, maxFileBytes: 1 << 24 },
  });
  const request = { ...ALL, query: { ...QUERY, maxMatches: 100_000 } };
  try {
    await engine.search({ ...ALL, query: { ...QUERY, pattern: 'none' } }, untilDone());
    while (index === 'auto' && !engine.isWarm) await sleep(5);

    const longest = watchTurns();
    const { contentMatches, isTruncated } = await engine.search(request, untilDone());
    expect(longest()).toBeLessThan(50);
    expect([contentMatches.length, isTruncated]).toEqual([100_000, true]);
  } finally {
    engine.close();
  }
});
