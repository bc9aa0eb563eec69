/** An index in several parts answers like one. */
import { linkSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { expect, test } from 'vitest';

import { tempDir } from '#testing/basics';
import { openJail } from '../../jail/jail.ts';
import { SearchEngine, type SearchRequest } from '../search-engine.ts';

/** Searches for `needle` in all files. */
const WHAT = { pattern: 'needle', isRegex: false, ignoreCase: false, wantsContent: true, wantsPaths: false };
const BOUNDS = { maxMatches: 5000, maxLineBytes: 9, contextLines: 0 };
const NEEDLE: SearchRequest = { path: '.', includeGlobs: [], excludeGlobs: [], query: { ...WHAT, ...BOUNDS } };

const scope = () => ({ signal: new AbortController().signal });

function openEngine(root: string, indexParts: number): SearchEngine {
  const index = { index: 'auto', indexMemoryBytes: 1 << 26, indexFromFiles: 0, indexParts } as const;
  return new SearchEngine(openJail(root), { root, protectedGlobs: [], maxFileBytes: 300_000, ...index });
}

async function warmUp(engine: SearchEngine): Promise<void> {
  await engine.search(NEEDLE, scope());
  for (let waited = 0; !engine.isWarm && waited < 60_000; waited += 5) await sleep(5);
  expect(engine.isWarm).toBe(true);
}

test.runIf(process.platform === 'linux')(
  'what was written through a name in another part, which is gone by now, is found under the first',
  async () => {
    const files = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`${i < 20 ? 'a' : 'z'}/${i}`, 'hay']));
    await using dir = await tempDir(files);
    const engine = openEngine(dir.root, 2);
    const paths = async () => (await engine.search(NEEDLE, scope())).contentMatches.map(({ path }) => path);
    try {
      await warmUp(engine);
      linkSync(dir.path('a/1'), dir.path('z/new'));
      expect(await paths()).toEqual([]);
      writeFileSync(dir.path('z/new'), 'needle');
      rmSync(dir.path('z/new'));
      expect(await paths()).toEqual(['a/1']);
      expect(engine.isWarm).toBe(true);
    } finally {
      engine.close();
    }
  },
);

test.runIf(process.platform === 'linux')(
  'a link is known to every part, also when only another is searched',
  async () => {
    const files = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`${i < 20 ? 'a' : 'z'}/${i}`, 'hay']));
    await using dir = await tempDir(files);
    const engine = openEngine(dir.root, 2);
    try {
      await warmUp(engine);
      linkSync(dir.path('a/1'), dir.path('z/new'));
      writeFileSync(dir.path('z/new'), 'needle');
      const { contentMatches } = await engine.search({ ...NEEDLE, path: 'a' }, scope());
      expect(contentMatches.map(({ path }) => path)).toEqual(['a/1']);
    } finally {
      engine.close();
    }
  },
);
