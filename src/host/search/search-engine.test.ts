import { linkSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { rounds, tempDir } from '#testing/basics';
import { openJail } from '../jail/jail.ts';
import { compileRegex } from '../regex/index.ts';
import type { Query } from './query.ts';
import { SearchEngine, type SearchEngineOptions } from './search-engine.ts';

const isLinux = process.platform === 'linux';

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

function openEngine(root: string, options: Partial<SearchEngineOptions> = {}): SearchEngine {
  const defaults = { root, protectedGlobs: [], maxFileBytes: 1 << 20, index: 'off', indexMemoryBytes: 0 } as const;
  return new SearchEngine(openJail(root), { ...defaults, ...options });
}

/** The contract in the shortest code. */
function naive(root: string, query: Omit<Query, 'maxFileBytes'>) {
  const regex = query.isRegex ? compileRegex(query.pattern, { ignoreCase: query.ignoreCase }) : undefined;
  const fold = (text: string) => (query.ignoreCase ? text.toLowerCase() : text);
  const columnIn = (line: string) => {
    if (regex) return regex.find(Buffer.from(line))?.start;
    const at = fold(line).indexOf(fold(query.pattern));
    return at < 0 ? undefined : Buffer.byteLength(fold(line).slice(0, at));
  };
  const files = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const matches = [];
  for (const path of files) {
    const bytes = readFileSync(join(root, path));
    if (bytes.includes(0)) continue;
    const lines = bytes.toString().split('\n');
    if (lines.at(-1) === '') lines.pop();
    for (const [i, raw] of lines.entries()) {
      const text = raw.replace(/\r$/, '');
      const column = columnIn(text);
      if (column !== undefined) matches.push({ path, line: i + 1, column: column + 1, text });
    }
  }
  return { contentMatches: matches.slice(0, query.maxMatches), isTruncated: matches.length > query.maxMatches };
}

test('this process, search processes and the contract give the same answer', async () => {
  const line = fc.constantFrom(
    'hit',
    'HIT hit',
    'é hit',
    'x',
    '',
    'hi',
    't\r',
    'hit\r',
    'K\u212A',
    '\uFFFDhit',
    'i\u0130',
  );
  const content = fc.array(line, { maxLength: 8 }).map((lines) => lines.join('\n'));
  const bytes = fc.oneof(
    content.map((text) => Buffer.from(text)),
    content.map((text) => Buffer.from(`${text}\n\xff\xc3hit\xe2\x82`, 'latin1')),
    content.map((text) => Buffer.from(`${text}\0`)),
  );
  const names = fc.constantFrom('a', 'b/c', 'b-', 'b0', 'b/d/e', 'é', 'z/z/z', 'z/y', 'A');
  const tree = fc.dictionary(names, bytes, { minKeys: 1, maxKeys: 9 });
  const query = fc.record({
    pattern: fc.constantFrom(
      'hit',
      'HIT',
      'k',
      'i',
      't',
      '\uFFFD',
      '^hit$',
      'h.t|k',
      '[^x]$',
      '(?:)',
      '\\bhit',
      'hit\r',
    ),
    isRegex: fc.boolean(),
    ignoreCase: fc.boolean(),
    maxMatches: fc.constantFrom(0, 1, 5, 1000),
  });
  await fc.assert(
    fc.asyncProperty(tree, fc.array(query, { minLength: 4, maxLength: 8 }), async (files, queries) => {
      await using dir = await tempDir(files);
      const [alone, processes] = [openEngine(dir.root, { aloneMs: Infinity }), openEngine(dir.root, { aloneMs: 0 })];
      try {
        for (const some of queries) {
          const request = { ...ALL, query: { ...QUERY, ...some } };
          const answer = await alone.search(request, untilDone());
          expect(answer).toMatchObject(naive(dir.root, request.query));
          expect(await processes.search(request, untilDone())).toEqual(answer);
        }
      } finally {
        alone.close();
        processes.close();
      }
    }),
    { numRuns: rounds(3, 25, 25), endOnFailure: true },
  );
}, 120_000);

describe('many files', () => {
  const many = Object.fromEntries(
    Array.from({ length: 1500 }, (_, i) => [`d${i % 37}/f${i}`, `${'hay\n'.repeat(i % 5)}${i % 3 ? 'hit' : ''}\n`]),
  );

  test.each([1, 7, 500, 5000])(
    'the first %i matches are the same, whichever process finds them',
    async (maxMatches) => {
      await using dir = await tempDir(many);
      const [alone, processes] = [openEngine(dir.root, { aloneMs: Infinity }), openEngine(dir.root, { aloneMs: 0 })];
      try {
        const request = { ...ALL, query: { ...QUERY, maxMatches } };
        const answer = await alone.search(request, untilDone());
        expect(answer.contentMatches).toHaveLength(Math.min(maxMatches, 1000));
        expect(await processes.search(request, untilDone())).toEqual(answer);
        const regex = { ...ALL, query: { ...request.query, pattern: 'h[i]t', isRegex: true } };
        expect(await processes.search(regex, untilDone())).toEqual(answer);
      } finally {
        alone.close();
        processes.close();
      }
    },
  );

  test('searches at the same time do not disturb each other', async () => {
    await using dir = await tempDir(many);
    const engine = openEngine(dir.root, { aloneMs: 0 });
    try {
      const searches = ['hit', 'hay', 'f1', 'h[ia]', 'nope'].map((pattern) =>
        engine.search(
          { ...ALL, query: { ...QUERY, pattern, isRegex: pattern.includes('['), maxMatches: 10_000 } },
          untilDone(),
        ),
      );
      const counts = (await Promise.all(searches)).map(({ contentMatches }) => contentMatches.length);
      expect(counts.slice(0, 1)).toEqual([1000]);
      expect(counts[3]).toBe(counts[0]! + counts[1]!);
      expect([counts[2], counts[4]]).toEqual([0, 0]);
    } finally {
      engine.close();
    }
  });

  test.each([
    ['on the way', QUERY],
    ['in a regex', { ...QUERY, pattern: 'h[i]t', isRegex: true }],
  ])('a search that its caller cancels fails at once, %s', async (_, query) => {
    await using dir = await tempDir(many);
    const engine = openEngine(dir.root, { aloneMs: 0 });
    try {
      const controller = new AbortController();
      const search = engine.search({ ...ALL, query: { ...query, maxMatches: 5000 } }, controller);
      controller.abort(new Error('enough'));
      await expect(search).rejects.toThrow('enough');
      const after = await engine.search({ ...ALL, query }, untilDone());
      expect(after.contentMatches).toHaveLength(1000);
    } finally {
      engine.close();
    }
  });
});

describe('a slow regex', () => {
  // Hundreds of regex states alive at every byte of an endless line: seconds for each file.
  const noise = Array.from({ length: 1_000_000 }, (_, i) => (Math.imul(i, i + 0x9e3779b1) & 64 ? 'a' : 'b')).join('');
  const slow = { ...QUERY, pattern: '\\b(?:[abé]*a[abé]{200}){2}[^abé]\\b', isRegex: true };
  const quick = { ...QUERY, pattern: '^h[i]t', isRegex: true };

  test('is stopped by ending its process when its caller left', async () => {
    await using dir = await tempDir({ slow: `é${noise}`, quick: 'hit' });
    const engine = openEngine(dir.root);
    try {
      const controller = new AbortController();
      const search = engine.search({ ...ALL, query: slow }, controller);
      setTimeout(() => controller.abort(new Error('enough')), 500);
      await expect(search).rejects.toThrow('enough');

      const next = engine.search({ ...ALL, query: quick }, untilDone());
      expect((await next).contentMatches).toMatchObject([{ path: 'quick' }]);
    } finally {
      engine.close();
    }
  });

  test('coder.P19 does not keep the processes from others, though it could use them all for minutes', async () => {
    await using dir = await tempDir({ 'slow/0/f': `é${noise}`, 'quick/f': 'hit' });
    for (let i = 1; i < 200; i++) {
      mkdirSync(dir.path(`slow/${i}`));
      linkSync(dir.path('slow/0/f'), dir.path(`slow/${i}/f`));
    }
    const engine = openEngine(dir.root);
    try {
      const controller = new AbortController();
      const before = new Set(isLinux ? children() : []);
      const isNew = (pid: string) => !before.has(pid);
      const slowSearches = [1, 2, 3].map((number) =>
        engine.search({ ...ALL, path: 'slow', query: { ...slow, maxMatches: number } }, controller).catch(String),
      );
      if (isLinux) await expect.poll(() => cpuSecondsOf(children().filter(isNew))).toBeGreaterThan(0.7);
      else await sleep(1000);
      const next = engine.search({ ...ALL, path: 'quick', query: quick }, untilDone());
      expect(await Promise.race([next, ...slowSearches])).toMatchObject({ contentMatches: [{ path: 'quick/f' }] });

      controller.abort(new Error('enough'));
      expect(await Promise.all(slowSearches)).toEqual(slowSearches.map(() => 'Error: enough'));
    } finally {
      engine.close();
    }
  });
});

/** Pids of the child processes of this one. */
function children(): string[] {
  return readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
}

/** Processor time that the processes have used. */
function cpuSecondsOf(pids: readonly string[]): number {
  const stats = pids.map((pid) => readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]!.split(' '));
  return stats.reduce((sum, stat) => sum + Number(stat[11]) / 100, 0);
}

test('without the directories below, the files of one directory are searched', async () => {
  await using dir = await tempDir({ 'd/a': 'hit', 'd/b/c': 'hit', 'd/z': 'hit', e: 'hit' });
  for (const [aloneMs, isRegex] of [
    [Infinity, false],
    [0, true],
  ] as const) {
    const engine = openEngine(dir.root, { aloneMs });
    try {
      const request = { ...ALL, path: 'd', isRecursive: false, query: { ...QUERY, isRegex } };
      const { contentMatches } = await engine.search(request, untilDone());
      expect(contentMatches.map(({ path }) => path)).toEqual(['d/a', 'd/z']);
    } finally {
      engine.close();
    }
  }
});

test('a closed engine fails what still runs', async () => {
  await using dir = await tempDir({ a: 'hit' });
  const engine = openEngine(dir.root);
  const search = engine.search({ ...ALL, query: { ...QUERY, isRegex: true } }, untilDone());
  engine.close();
  await expect(search).rejects.toThrow('closed');
});

test('a protected directory that is too deep to be searched is not reported, another is', async () => {
  const deep = Array.from({ length: 520 }, () => 'd').join('/');
  await using dir = await tempDir({ [`plain/${deep}/f`]: 'hit', [`secret/${deep}/f`]: 'hit' });
  const engine = openEngine(dir.root, { protectedGlobs: [{ globs: ['secret'] }] });
  try {
    const { skipped } = await engine.search({ ...ALL, query: QUERY }, untilDone());
    expect(skipped.map(({ path, reason }) => [path.split('/')[0], reason])).toEqual([['plain', 'too-deep']]);
  } finally {
    engine.close();
  }
});
