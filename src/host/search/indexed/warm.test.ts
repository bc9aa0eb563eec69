/**
 * The index answers exactly what reading the files answers, whatever happened to them since.
 *
 * Writes through a memory mapping and through names outside the tree are the documented exceptions: the kernel
 * announces neither.
 */
import {
  appendFileSync,
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import fc from 'fast-check';
import { expect, test } from 'vitest';

import { rounds, tempDir } from '#testing/basics';
import { openJail } from '../../jail/jail.ts';
import type { SearchAnswer } from '../query.ts';
import { SearchEngine, type SearchEngineOptions, type SearchRequest } from '../search-engine.ts';

const [SEQUENCES, EDITS] = [rounds(1, 10, 50), rounds(30, 50, 50)];
const MAX_FILE_BYTES = 300_000;

const PLACES = ['a', 'b.txt', 'd', 'd/a', 'd/b', 'd/e', 'd/e/f', 'd/e/g.txt', 'd-x', 'é/k', 'deep/er/and/deeper'];
const TEXTS = [
  'needle\n',
  'hay\nNEEDLE in hay\n',
  'x\r\nneedle\r\n',
  '',
  'nee\0dle needle',
  'K \u212Aelvin needle',
  `${'hay\n'.repeat(20_000)}needle\n`,
  'x'.repeat(MAX_FILE_BYTES + 1),
  `${'hay\n'.repeat(MAX_FILE_BYTES / 4)}needle\n`,
];

type Edit = (root: string) => void;

const place = fc.constantFrom(...PLACES);
const text = fc.constantFrom(...TEXTS);

/** An edit that is impossible in the current tree changes nothing. */
const edit: fc.Arbitrary<Edit> = fc.oneof(
  fc.tuple(place, text).map(
    ([at, content]): Edit =>
      (root) =>
        writeFileSync(join(root, at), content),
  ),
  fc.tuple(place, text).map(
    ([at, content]): Edit =>
      (root) =>
        appendFileSync(join(root, at), content),
  ),
  place.map(
    (at): Edit =>
      (root) =>
        truncateSync(join(root, at), 3),
  ),
  fc.tuple(place, text).map(([at, content]): Edit => (root) => {
    writeFileSync(join(root, 'temporary'), content);
    renameSync(join(root, 'temporary'), join(root, at));
  }),
  fc.tuple(place, place).map(
    ([from, to]): Edit =>
      (root) =>
        renameSync(join(root, from), join(root, to)),
  ),
  fc.tuple(place, text).map(([at, content]): Edit => (root) => {
    mkdirSync(join(root, at, 'new/er'), { recursive: true });
    writeFileSync(join(root, at, 'new/er/f'), content);
  }),
  place.map(
    (at): Edit =>
      (root) =>
        rmSync(join(root, at), { recursive: true, force: true }),
  ),
  fc.tuple(place, text).map(([at, content]): Edit => (root) => {
    // Removed and made again under the same name, with other contents.
    rmSync(join(root, at), { recursive: true, force: true });
    mkdirSync(join(root, at));
    writeFileSync(join(root, at, 'again'), content);
  }),
  fc.tuple(place, fc.constantFrom(0o600, 0o755)).map(
    ([at, mode]): Edit =>
      (root) =>
        chmodSync(join(root, at), mode),
  ),
  fc.tuple(place, place).map(
    ([to, at]): Edit =>
      (root) =>
        symlinkSync(join(root, to), join(root, at)),
  ),
  fc.tuple(place, place).map(
    ([to, at]): Edit =>
      (root) =>
        linkSync(join(root, to), join(root, at)),
  ),
  fc.tuple(place, text).map(([at, content]): Edit => (root) => {
    // The size and time are those of before: only the event shows the change.
    const { size, mtime } = statSync(join(root, at));
    writeFileSync(join(root, at), content.padEnd(size, '.').slice(0, size));
    utimesSync(join(root, at), mtime, mtime);
  }),
);

const query = fc.record({
  pattern: fc.constantFrom('needle', 'NEEDLE', 'x', 'hay', 'k', 'nee.*le', '^$', 'zq'),
  isRegex: fc.boolean(),
  ignoreCase: fc.boolean(),
  wantsContent: fc.constantFrom(true, true, true, false),
  wantsPaths: fc.constant(true),
  maxMatches: fc.constantFrom(0, 3, 1000),
  maxLineBytes: fc.constant(20),
  contextLines: fc.constantFrom(0, 1),
  mayBeJson: fc.boolean(),
});
const request: fc.Arbitrary<SearchRequest> = fc.record({
  path: fc.constantFrom('.', '.', '.', 'd', 'd/e'),
  query,
  includeGlobs: fc.constantFrom([], ['d/**']),
  excludeGlobs: fc.constantFrom([], ['*.txt']),
});

const sequences = fc.array(fc.record({ edits: fc.array(edit, { minLength: 1, maxLength: 3 }), request }), {
  minLength: EDITS,
  maxLength: EDITS,
});

const PROTECTED = [{ globs: ['**/protected'] }];
/** Of a worker that searches files too large for the index, and of one that does not. */
const LIMITS = [MAX_FILE_BYTES, 2 * MAX_FILE_BYTES].map((maxFileBytes) => ({
  maxFileBytes,
  protectedGlobs: PROTECTED,
}));

function openEngine(root: string, options: Partial<SearchEngineOptions>): SearchEngine {
  return new SearchEngine(openJail(root), {
    root,
    protectedGlobs: PROTECTED,
    maxFileBytes: MAX_FILE_BYTES,
    index: 'off',
    indexMemoryBytes: 1 << 26,
    ...options,
  });
}

/** Searches for `needle` in all files. */
const WHAT = { pattern: 'needle', isRegex: false, ignoreCase: false, wantsContent: true, wantsPaths: false };
const BOUNDS = { maxMatches: 9, maxLineBytes: 9, contextLines: 0 };
const NEEDLE: SearchRequest = { path: '.', includeGlobs: [], excludeGlobs: [], query: { ...WHAT, ...BOUNDS } };

const scope = () => ({ signal: new AbortController().signal });
const outcome = (search: Promise<SearchAnswer>) => search.then(decoded).catch((error: unknown) => String(error));

/** With its matches as objects, in whichever form they came. */
function decoded({ contentJson, ...answer }: SearchAnswer): SearchAnswer {
  return contentJson ? { ...answer, contentMatches: contentJson.decode() } : answer;
}

async function warmUp(engine: SearchEngine): Promise<void> {
  const request = { path: '.', query: fc.sample(query, 1)[0]!, includeGlobs: [], excludeGlobs: [] };
  await engine.search({ ...request, query: { ...request.query, pattern: 'x', isRegex: false } }, scope());
  await untilWarm(engine);
}

async function untilWarm(engine: SearchEngine): Promise<void> {
  for (let waited = 0; !engine.isWarm && waited < 60_000; waited += 5) await sleep(5);
  expect(engine.isWarm).toBe(true);
}

test.runIf(process.platform === 'linux').each([
  ['in three parts with room for everything', 3, 1 << 26],
  ['in one part with room for little, and signatures for the rest', 1, 200_000],
])(
  'coder.P12 warm is cold after any edit, %s',
  async (_, indexParts, indexMemoryBytes) => {
    let reloads = 0;
    await fc.assert(
      fc.asyncProperty(sequences, async (sequence) => {
        await using dir = await tempDir({
          'd/e/g.txt': 'needle',
          'b.txt': 'hay',
          'é/k': 'Needle',
          'd/protected': 'needle',
        });
        const [warm, cold] = [
          openEngine(dir.root, { index: 'auto', indexFromFiles: 0, indexParts, indexMemoryBytes }),
          openEngine(dir.root, {}),
        ];
        try {
          await warmUp(warm);
          for (const [i, { edits, request }] of sequence.entries()) {
            await untilWarm(warm);
            for (const apply of edits) attempt(() => apply(dir.root));
            const limits = LIMITS[i % 2];
            const expected = await outcome(cold.search(request, scope(), limits));
            expect(await outcome(warm.search(request, scope(), limits))).toEqual(expected);
            if (!warm.isWarm) reloads++;
          }
        } finally {
          warm.close();
          cold.close();
        }
      }),
      { numRuns: SEQUENCES, endOnFailure: true },
    );
    console.log(`the index loaded again in ${reloads} of ${SEQUENCES * EDITS} rounds`);
    // Nearly every search began with a ready index, so the index answered most of them.
    expect(reloads).toBeLessThan(0.05 * SEQUENCES * EDITS);
  },
  240_000,
);

function attempt(apply: () => void): void {
  try {
    apply();
  } catch (error) {
    if (!(error instanceof Error && 'errno' in error)) throw error;
  }
}

test.runIf(process.platform === 'linux')(
  'an overflow of events is noticed, and the answer is right',
  async () => {
    await using dir = await tempDir({ 'd/a': 'needle' });
    const engine = openEngine(dir.root, { index: 'auto', indexFromFiles: 0 });
    try {
      await warmUp(engine);
      for (let i = 0; i < 6000; i++) {
        for (const name of ['x', 'y', 'z']) writeFileSync(dir.path(`d/${name}`), 'hay');
      }
      writeFileSync(dir.path('d/last'), 'needle');
      const answer = await engine.search(NEEDLE, scope());
      expect(answer.contentMatches.map(({ path }) => path)).toEqual(['d/a', 'd/last']);
    } finally {
      engine.close();
    }
  },
  60_000,
);

test.runIf(process.platform === 'linux')('a root that was replaced is noticed', async () => {
  await using dir = await tempDir({ 'ws/a': 'needle' });
  const engine = openEngine(dir.path('ws'), { index: 'auto', indexFromFiles: 0 });
  try {
    await warmUp(engine);
    renameSync(dir.path('ws'), dir.path('old'));
    dir.add({ 'ws/b': 'needle' });
    expect(existsSync(dirname(dir.path('ws/b')))).toBe(true);
    const answer = await engine.search(NEEDLE, scope());
    expect(answer.contentMatches.map(({ path }) => path)).toEqual(['b']);
  } finally {
    engine.close();
  }
});

test.runIf(process.platform === 'linux')(
  'a directory that was moved away is no longer watched, nor what is in it',
  async () => {
    await using dir = await tempDir({ 'ws/d/e/f/a': 'needle', 'ws/d/g/b': 'needle', 'ws/h/c': 'needle' });
    const engine = openEngine(dir.path('ws'), { index: 'auto', indexFromFiles: 0, indexParts: 1 });
    const paths = async () => (await engine.search(NEEDLE, scope())).contentMatches.map(({ path }) => path);
    try {
      // Watches of earlier tests end with their threads, a moment after their engine was closed.
      await expect.poll(watchCount).toBe(0);
      await warmUp(engine);
      expect(watchCount()).toBe(6);

      renameSync(dir.path('ws/d'), dir.path('away'));
      dir.add({ 'ws/d/e/new': 'needle' });
      expect(await paths()).toEqual(['d/e/new', 'h/c']);
      expect(watchCount()).toBe(4);

      writeFileSync(dir.path('away/e/new'), 'hay');
      rmSync(dir.path('away/e/f/a'));
      writeFileSync(dir.path('away/g/later'), 'needle');
      expect(await paths()).toEqual(['d/e/new', 'h/c']);
      expect(engine.isWarm).toBe(true);
    } finally {
      engine.close();
    }
  },
);

test.runIf(process.platform === 'linux')('searching by names alone starts the index when it took long', async () => {
  await using dir = await tempDir({ 'd/needle': 'a', 'd/hay': 'needle', 'e/needle.txt': '' });
  const byName = { ...NEEDLE, query: { ...NEEDLE.query, wantsContent: false, wantsPaths: true } };
  const quick = openEngine(dir.root, { index: 'auto', indexFromMs: Infinity });
  const slow = openEngine(dir.root, { index: 'auto', indexFromMs: 0 });
  try {
    const cold = [await quick.search(byName, scope()), await slow.search(byName, scope())];
    await expect.poll(() => slow.isWarm).toBe(true);
    expect(quick.isWarm).toBe(false);
    expect([...cold, await slow.search(byName, scope())].map(({ pathMatches }) => pathMatches)).toEqual(
      Array.from({ length: 3 }, () => ['d/needle', 'e/needle.txt']),
    );
  } finally {
    quick.close();
    slow.close();
  }
});

/** Directories that this process watches. */
function watchCount(): number {
  const infos = readdirSync('/proc/self/fdinfo').flatMap((fd) => {
    const path = `/proc/self/fdinfo/${fd}`;
    return existsSync(path) ? [readFileSync(path, 'utf8')] : [];
  });
  return infos.join('').split('inotify wd:').length - 1;
}
