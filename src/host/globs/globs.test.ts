import { readFileSync } from 'node:fs';

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { rounds } from '#testing';
import { toBytes } from '../text/byte-string.ts';
import { GlobAutomaton } from './glob-automaton.ts';
import { GlobError, parseGlobset, type GlobToken } from './glob-syntax.ts';
import { compileGlobs } from './globs.ts';

const fixture = (name: string) =>
  readFileSync(new URL(`../fixtures/${name}`, import.meta.url), 'utf8')
    .trimEnd()
    .split('\n');

describe('coder.P4 the recorded truth of globset', () => {
  const [paths, ...rows] = fixture('glob-table.jsonl').map((line) => JSON.parse(line));

  test.each(rows as [string, number[] | 'error'][])('%j', (pattern, truth) => {
    if (truth === 'error') {
      expect(() => compileGlobs([pattern])).toThrow(GlobError);
      return;
    }
    const matches = compileGlobs([pattern]);
    expect(paths.filter(matches)).toEqual(truth.map((index) => paths[index]));
  });

  test('random patterns on random paths', () => {
    const wrong = fixture('glob-fuzz.tsv').flatMap((line) => {
      const [pattern = '', ...marked] = line.split('\t');
      const matches = compileGlobs([pattern]);
      return marked.filter((path) => matches(path.slice(1)) !== (path[0] === '+')).map((path) => [pattern, path]);
    });
    expect(wrong).toEqual([]);
  });
});

test.each([
  ['{a', 'a { is never closed'],
  ['a}', 'a } without its {'],
  ['[a', 'a [ is never closed'],
  ['[z-a]', 'the range z-a runs backwards'],
  ['a\\', 'nothing follows the last backslash'],
])('%s is refused by name and reason', (pattern, reason) => {
  expect(() => compileGlobs(['fine', pattern])).toThrow(`bad glob ${JSON.stringify(pattern)}: ${reason}`);
});

test('a pattern longer than any path is refused', () => {
  expect(() => compileGlobs(['a'.repeat(5000)])).toThrow('longer than 4096 characters');
});

test.each([
  [
    '257 of them',
    Array.from({ length: 257 }, (_, i) => `${i}.ts`),
    'bad glob "256.ts": a list holds at most 256 globs',
  ],
  [
    'too much in them',
    Array.from({ length: 17 }, () => 'a'.repeat(4000)),
    `bad glob "${'a'.repeat(40)}…": the list is longer than 65536 characters`,
  ],
])('a list with %s is refused', (_, patterns, message) => {
  expect(() => compileGlobs(patterns)).toThrow(message);
  expect(() => compileGlobs(patterns.slice(0, -1))).not.toThrow();
});

test('a list of the maximum length, below a very deep directory, matches at once', () => {
  const below = 'd/'.repeat(2000) + 'd';
  const patterns = Array.from({ length: 256 }, (_, i) => `*${i}*.ts`);
  const matches = compileGlobs(patterns, { dialect: 'gitignore', below });
  expect([`${below}/a255.ts`, `${below}/a.ts`, 'a255.ts'].map(matches)).toEqual([true, false, false]);
});

test('braces may nest as deep as a pattern may be long', () => {
  expect(compileGlobs([`${'{'.repeat(2047)}a${'}'.repeat(2047)}`])('a')).toBe(true);
  const choices = compileGlobs([`${'{a,'.repeat(1000)}b${'}'.repeat(1000)}`]);
  expect(['a', 'b', 'c', ''].map(choices)).toEqual([true, true, false, false]);
});

test('a list matches what any of its patterns matches', () => {
  const matches = compileGlobs(['**/.env', '**/*.pem', '**/secrets/**']);
  const paths = ['.env', 'a/.env', 'k.pem', 'secrets/x', 'secrets', 'a/env', 'pem'];
  expect(paths.filter(matches)).toEqual(['.env', 'a/.env', 'k.pem', 'secrets/x']);
  expect(compileGlobs([])('anything')).toBe(false);
});

describe('globs whose wildcards stay in a name', () => {
  const paths = ['a.ts', 'src/a.ts', 'src/deep/a.ts', 'src/é.ts', 'src/[id].ts', 'srcs/a.ts', 'src', 'a/b', 'ab'];

  test.each([
    ['*.ts', ['a.ts', 'src/a.ts', 'src/deep/a.ts', 'src/é.ts', 'src/[id].ts', 'srcs/a.ts']],
    ['a?b', []],
    ['?.ts', ['a.ts', 'src/a.ts', 'src/deep/a.ts', 'src/é.ts', 'srcs/a.ts']],
    ['src/*.ts', ['src/a.ts', 'src/é.ts', 'src/[id].ts']],
    ['/src/*.ts', ['src/a.ts', 'src/é.ts', 'src/[id].ts']],
    ['src/**/*.ts', ['src/a.ts', 'src/deep/a.ts', 'src/é.ts', 'src/[id].ts']],
    ['**/deep/**', ['src/deep/a.ts']],
    ['src**', ['src']],
    ['**', paths],
    ['[!x]b', ['ab']],
    ['{a,é}.ts', ['a.ts', 'src/a.ts', 'src/deep/a.ts', 'src/é.ts', 'srcs/a.ts']],
  ])('%s', (pattern, matched) => {
    expect(paths.filter(compileGlobs([pattern], { dialect: 'segments' }))).toEqual(matched);
  });

  test('start at the directory they are given for', () => {
    const matches = compileGlobs(['*.ts', 'deep/*'], { dialect: 'segments', below: 'src' });
    expect([...paths, 'deep/a.ts'].filter(matches)).toEqual(['src/a.ts', 'src/deep/a.ts', 'src/é.ts', 'src/[id].ts']);
  });
});

describe('globs as lines of a .gitignore file', () => {
  const paths = [
    'a.js',
    'build',
    'src/a.js',
    'src/build/x.js',
    'src/[id].js',
    'x/build',
    'x/{a}',
    'node_modules/m/a.js',
  ];
  const matched = (patterns: string[], below = '') => {
    const matches = compileGlobs(patterns, { dialect: 'gitignore', below });
    return paths.filter((path) => matches(path));
  };

  test.each<[string[], string[]]>([
    [['node_modules'], ['node_modules/m/a.js']],
    [['node_modules/'], ['node_modules/m/a.js']],
    [['m'], ['node_modules/m/a.js']],
    [['build'], ['build', 'src/build/x.js', 'x/build']],
    [['build/'], ['src/build/x.js']],
    [['/build'], ['build']],
    [['src/build'], ['src/build/x.js']],
    [['x/*'], ['x/build', 'x/{a}']],
    [['**/build/**'], ['src/build/x.js']],
    [['src/**/*.js'], ['src/a.js', 'src/build/x.js', 'src/[id].js']],
    [['{a}'], ['x/{a}']],
    [['[ab].js'], ['a.js', 'src/a.js', 'node_modules/m/a.js']],
    [['\\[id].js'], ['src/[id].js']],
    [
      ['*.js', '!a.js'],
      ['src/build/x.js', 'src/[id].js'],
    ],
    [
      ['src', '!src/a.js'],
      ['src/a.js', 'src/build/x.js', 'src/[id].js'],
    ],
    [['src/*', '!src/build/', '!src/a.js'], ['src/[id].js']],
    [['!a.js'], []],
  ])('%j', (patterns, expected) => {
    expect(matched(patterns)).toEqual(expected);
  });

  test('start at the directory they are given for, also with !', () => {
    expect(matched(['/a.js', 'build/'], 'src')).toEqual(['src/a.js', 'src/build/x.js']);
    expect(matched(['*.js', '!x.js'], 'src')).toEqual(['src/a.js', 'src/[id].js']);
  });

  test('a list that changes between with and without ! too often is refused', () => {
    const patterns = Array.from({ length: 9 }, (_, at) => (at % 2 === 0 ? 'a' : '!a'));
    expect(() => matched(patterns)).toThrow('8 times at most');
    expect(() => matched(patterns.slice(0, 8))).not.toThrow();
  });
});

const pieces = [
  'a',
  'b',
  'é',
  '/',
  '*',
  '**',
  '**/',
  '/**',
  '?',
  '[ab]',
  '[!a]',
  '[a-é]',
  '{a,b}',
  '{a/,*}',
  '{',
  '}',
  ',',
  '.',
];
const patterns = fc.array(fc.constantFrom(...pieces), { maxLength: 7 }).map((parts) => parts.join(''));
const smallPaths = fc
  .array(fc.constantFrom('a', 'b', 'é', '/', '.', ','), { maxLength: 8 })
  .map((parts) => parts.join(''));

test('one automaton for many patterns matches as backtracking through each of them does', () => {
  fc.assert(
    fc.property(
      fc.array(patterns, { minLength: 1, maxLength: 3 }),
      fc.array(smallPaths, { maxLength: 5 }),
      (list, tried) => {
        const readable = list.flatMap(tokensOrNone);
        fc.pre(readable.length > 0);
        const automaton = new GlobAutomaton(readable);
        for (const path of tried) {
          const byHand = readable.some((tokens) => matchesByEnds(tokens, toBytes(path)));
          expect([list, path, automaton.matches(path)]).toEqual([list, path, byHand]);
        }
      },
    ),
    { numRuns: rounds(600, 3000, 30_000) },
  );
});

/** A piece of a pattern and the bytes that it takes. */
const steps = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(['a', 'a'], ['?', 'b'], ['[ab]', 'a'], ['b', 'b']) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(['*', 'aba'], ['*', ''], ['{a,bb}', 'bb'], ['{b,a*}', 'b'], ['{b,a*}', 'ab']),
  },
);
const longPatterns = fc.array(steps, { minLength: 25, maxLength: 80 }).map((list) => ({
  pattern: list.map(([piece]) => piece).join(''),
  path: list.map(([, taken]) => taken).join(''),
}));

test('long patterns match their path, and one with a changed byte as backtracking does', () => {
  fc.assert(
    fc.property(longPatterns, fc.nat(), ({ pattern, path }, at) => {
      const changed = path
        .split('')
        .with(at % path.length, 'c')
        .join('');
      const tokens = parseGlobset(pattern);
      const automaton = new GlobAutomaton([tokens]);
      expect(automaton.matches(path)).toBe(true);
      expect([pattern, automaton.matches(changed)]).toEqual([pattern, matchesByEnds(tokens, changed)]);
    }),
    { numRuns: rounds(400, 2000, 20_000) },
  );
});

describe('coder.P4 work stays proportional to the path', () => {
  const bombs = {
    stars: `${'*a'.repeat(50)}b`,
    states: `*a${'?'.repeat(40)}`,
    nested: `${'{'.repeat(800)}a${',*b}'.repeat(800)}`,
    choices: `*a${'{?,?}'.repeat(200)}b`,
  };

  test.each(Object.entries(bombs))('%s', (_, pattern) => {
    const tokens = parseGlobset(pattern);
    const automaton = new GlobAutomaton([tokens]);
    const path = pseudoRandomText(10_000);

    expect(automaton.matches(path)).toBe(false);
    expect(automaton.work).toBeLessThan(4 * pattern.length * path.length);
  });

  test.each([
    ['bytes', `*a${'?'.repeat(1000)}`],
    ['runs', '*a'.repeat(500)],
    ['branches', `*a{${'?'.repeat(500)},${'a'.repeat(500)}}`],
  ])('adjacent states advance together: %s', (_, pattern) => {
    const automaton = new GlobAutomaton([parseGlobset(`${pattern}b`)]);
    const path = pseudoRandomText(10_000);

    expect(automaton.matches(path)).toBe(false);
    expect(automaton.work).toBeLessThan((pattern.length / 16) * path.length);
  });

  test('ordinary globs stop making states after the first paths', () => {
    const automaton = new GlobAutomaton(['**/.env', '**/*.pem', '**/secrets/**'].map(parseGlobset));
    const path = (n: number) => `src/module-${n % 100}/secret/file.pemx`;
    for (let n = 0; n < 100; n++) automaton.matches(path(n));
    const workOfFirst = automaton.work;
    for (let n = 0; n < 10_000; n++) automaton.matches(path(n));
    expect(automaton.work).toBe(workOfFirst);
  });
});

function tokensOrNone(pattern: string): GlobToken[][] {
  try {
    return [parseGlobset(pattern)];
  } catch {
    return [];
  }
}

/** By definition: computes all positions in a path at which the tokens so far can end. */
function matchesByEnds(tokens: GlobToken[], bytes: string): boolean {
  return endsOf(tokens, bytes, new Set([0])).has(bytes.length);
}

function endsOf(tokens: GlobToken[], bytes: string, starts: Set<number>): Set<number> {
  return tokens.reduce((ends, token) => new Set([...ends].flatMap((end) => [...endsOfOne(token, bytes, end)])), starts);
}

function endsOfOne(token: GlobToken, bytes: string, start: number): Iterable<number> {
  if (token.kind === 'either') {
    const branches = token.branches.length === 0 ? [[]] : token.branches;
    return branches.flatMap((branch) => [...endsOf(branch, bytes, new Set([start]))]);
  }
  const takes = (at: number) => at < bytes.length && token.set[bytes.charCodeAt(at)] === 1;
  if (token.kind === 'byte') return takes(start) ? [start + 1] : [];

  const ends = [start];
  for (let at = start; takes(at); at++) ends.push(at + 1);
  return ends;
}

/** Text of a and c whose period is too long to exploit. */
function pseudoRandomText(length: number): string {
  let seed = 1;
  return Array.from({ length }, () => {
    seed = (seed * 48271) % 2147483647;
    return seed % 2 === 0 ? 'a' : 'c';
  }).join('');
}
