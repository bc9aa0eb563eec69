/**
 * coder.C109 for searches without the optional system calls: directories are opened through /proc, and search
 * processes enter them. `jail-search.test.ts` does the same with the jail of this system.
 */
import { describe, expect, test } from 'vitest';

import { openJail, SearchEngine } from '#host';
import { rounds, tempDir } from '#testing';
import { whileSwapping } from './jail-swapper.ts';

const ROUNDS = rounds(150, 2500, 20_000);

const OPTIONS = { protectedGlobs: [], maxFileBytes: 1 << 20, index: 'off', indexMemoryBytes: 0 } as const;

describe.skipIf(process.platform !== 'linux')(
  'coder.C109 without system calls, a name that is swapped for a link out',
  () => {
    test.each([
      ['a folder, by the main process', 'a/b', 'a/evil', 'e', false],
      ['a folder, by search processes', 'a/b', 'a/evil', '[eE]', true],
      ['a file, by the main process', 'a/b/c/f.txt', 'a/b/c/evil', 'e', false],
      ['a file, by search processes', 'a/b/c/f.txt', 'a/b/c/evil', '[eE]', true],
    ] as const)(
      '%s',
      async (_, name, link, pattern, isRegex) => {
        await using dir = await tempDir({
          'ws/a/b/c/f.txt': 'e inside',
          'ws/a/b/g.txt': 'e inside',
          'outside/c/f.txt': 'SECRET e inside',
          'outside/c/SECRET': 'SECRET e inside',
          'outside/SECRET': 'SECRET e inside',
        });
        dir.add({ [`ws/${link}`]: { symlink: dir.path(link === 'a/evil' ? 'outside' : 'outside/c/f.txt') } });
        const names: [string, string] = [dir.path(`ws/${name}`), dir.path(`ws/${link}`)];
        const counts = await whileSwapping(names, () => hammer(dir.path('ws'), pattern, isRegex));
        console.log(`search by paths, ${name} swapped:`, counts);
        expect(counts).toMatchObject({ leaked: 0 });
        expect(counts.found).toBeGreaterThan(0);
      },
      120_000,
    );
  },
);

async function hammer(root: string, pattern: string, isRegex: boolean) {
  const engine = new SearchEngine(openJail(root), { root, ...OPTIONS, opening: 'after-finding' });
  const request = {
    path: '.',
    includeGlobs: [],
    excludeGlobs: [],
    query: {
      pattern,
      isRegex,
      ignoreCase: false,
      wantsContent: true,
      wantsPaths: true,
      maxMatches: 100,
      maxLineBytes: 100,
      contextLines: 0,
    },
  };
  const counts = { found: 0, nothing: 0, leaked: 0 };
  try {
    // On until the name was met inside.
    for (let round = 0; round < ROUNDS || (round < 50 * ROUNDS && counts.found === 0); round++) {
      const text = JSON.stringify(await engine.search(request, { signal: new AbortController().signal }));
      if (text.includes('SECRET')) counts.leaked++;
      else if (text.includes('inside')) counts.found++;
      else counts.nothing++;
    }
  } finally {
    engine.close();
  }
  return counts;
}
