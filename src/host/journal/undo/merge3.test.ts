/** Merges of one file, compared with those of git: thousands of them in one repository, because a process for each costs more. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

import fc from 'fast-check';
import { expect, test } from 'vitest';

import { isFull, rounds, tempDir } from '#testing';
import { merge3 } from './merge3.ts';

test.each([
  ['changes of different lines', 'a\nb\nc\nd\n', 'A\nb\nc\nd\n', 'a\nb\nc\nD\n', 'A\nb\nc\nD\n'],
  ['the same change twice', 'a\nb\n', 'x\nb\n', 'x\nb\n', 'x\nb\n'],
  ['an insertion and a removal', 'a\nb\nc\nd\n', 'n\na\nb\nc\nd\n', 'a\nb\nc\n', 'n\na\nb\nc\n'],
  ['no newline at the end', 'a\nb\nc', 'A\nb\nc', 'a\nb\nC', 'A\nb\nC'],
  ['the same insertion, among equal lines', 'a\nb\nc\n', 'x\nb\nc\nc\n', 'a\nb\nc\nc\n', 'x\nb\nc\nc\n'],
  ['the same removal, among equal lines', 'a\nb\nc\nc\n', 'x\nb\nc\n', 'a\nb\nc\n', 'x\nb\nc\n'],
  ['mixed line endings', 'a\r\nb\nc\n', 'A\r\nb\nc\n', 'a\r\nb\nC\n', 'A\r\nb\nC\n'],
  ['the same line', 'a\nb\n', 'x\nb\n', 'y\nb\n', undefined],
  ['adjacent lines', 'a\nb\nc\n', 'X\nb\nc\n', 'a\nY\nc\n', undefined],
  ['insertions before the same line', 'a\nb\n', 'a\nx\nb\n', 'a\ny\nb\n', undefined],
])('%s', (_, base, mine, theirs, merged) => {
  expect(merge3(base, mine, theirs)).toBe(merged);
  expect(merge3(base, theirs, mine)).toBe(merged);
});

test('a merge with an unchanged side returns the other side', () => {
  const text = fc.array(fc.constantFrom('a\n', 'b\n', 'c\n')).map((lines) => lines.join(''));
  fc.assert(
    fc.property(text, text, (base, mine) => merge3(base, mine, base) === mine && merge3(base, base, mine) === mine),
  );
});

interface Sides {
  readonly base: string;
  readonly mine: string;
  readonly theirs: string;
}

/** The merge by git of each; undefined for a conflict. */
async function mergesOfGit(all: readonly Sides[]): Promise<(string | undefined)[]> {
  await using dir = await tempDir();
  const env = { PATH: process.env.PATH!, HOME: dir.root, GIT_CONFIG_NOSYSTEM: '1' };
  const git = (words: string[], { input = '', mayConflict = false } = {}) => {
    const { status, stdout, stderr } = spawnSync('git', ['-C', dir.root, '-c', 'core.fsync=none', ...words], {
      ...{ env, input, encoding: 'utf8', maxBuffer: 2 ** 28 },
    });
    if (status !== 0 && !(mayConflict && status === 1)) throw new Error(`git ${words[0]}: ${status} ${stderr}`);
    return stdout;
  };
  const commit = (side: keyof Sides, from = '') => [
    `commit refs/heads/${side}\ncommitter a <a@example.com> 0 +0000\ndata 0\n${from}`,
    ...all.map((sides, at) => `M 100644 inline f${at}\ndata ${sides[side].length}\n${sides[side]}\n`),
  ];
  const from = 'from refs/heads/base\n';
  git(['init', '-q']);
  git(['fast-import', '--quiet'], {
    input: [...commit('base'), ...commit('mine', from), ...commit('theirs', from)].join(''),
  });
  git(['checkout', '-q', 'mine']);
  // The diff of `git merge-file`.
  const options = ['-s', 'recursive', '-X', 'diff-algorithm=myers', '-X', 'no-renames'];
  git(['-c', 'user.name=a', '-c', 'user.email=a@example.com', 'merge', '-q', '--no-commit', ...options, 'theirs'], {
    mayConflict: true,
  });
  const conflicts = new Set(git(['diff', '--name-only', '--diff-filter=U']).split('\n'));
  return all.map((_, at) => (conflicts.has(`f${at}`) ? undefined : readFileSync(dir.path(`f${at}`), 'utf8')));
}

const MERGES = rounds(300, 10_000, 30_000);

const edits = fc.array(
  fc.record({
    at: fc.nat(12),
    count: fc.nat(3),
    put: fc.array(fc.constantFrom('x', 'y', 'a', 'b'), { maxLength: 3 }),
  }),
  { minLength: 1, maxLength: 3 },
);

/** `isDistinct`: no line of the base is there twice. */
function sides({ isDistinct }: { isDistinct: boolean }): fc.Arbitrary<Sides> {
  const word = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f');
  const toText = (lines: string[]) => lines.map((line) => `${line}\n`).join('');
  return fc.tuple(fc.array(word, { maxLength: 12 }), edits, edits).map(([words, one, two]) => {
    const base = isDistinct ? words.map((line, at) => `${line}${at}`) : words;
    const edited = (by: typeof one) =>
      toText(by.reduce((lines, { at, count, put }) => lines.toSpliced(at, count, ...put), base));
    return { base: toText(base), mine: edited(one), theirs: edited(two) };
  });
}

const ourMerge = ({ base, mine, theirs }: Sides) => merge3(base, mine, theirs);

test('every merge and every conflict is that of git, where no line of the base is there twice', async () => {
  const all = fc.sample(sides({ isDistinct: true }), MERGES);
  const expected = await mergesOfGit(all);
  const others = all.filter((each, at) => ourMerge(each) !== expected[at]);
  expect(others).toEqual([]);
  expect(expected.filter((merged) => merged !== undefined).length).toBeGreaterThan(MERGES / 5);
  expect(expected.filter((merged) => merged === undefined).length).toBeGreaterThan(MERGES / 5);
});

test.runIf(isFull)(
  'of texts of the same few lines again and again 1 merge in 200 may be another than that of git',
  async () => {
    const all = fc.sample(sides({ isDistinct: false }), { numRuns: MERGES, seed: 4 });
    const expected = await mergesOfGit(all);
    const others = all.filter((each, at) => ourMerge(each) !== expected[at]);
    expect(others.length).toBeLessThanOrEqual(MERGES / 200);
  },
);
