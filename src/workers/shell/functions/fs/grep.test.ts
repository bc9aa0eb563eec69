import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { run, serveWorker, strictReply, tempDir, type ServedWorker, type TempDir, type TempEntries } from '#testing';
import { shell } from '../../index.ts';
import { grep } from './grep.ts';

const config = (dir: TempDir) => ({ fs: { host_root: dir.path('j'), denylist_paths: [dir.path('j/d/secret')] } });
const search = (dir: TempDir, path: string, pattern: string, more: object = {}) =>
  run(grep, { path: dir.path(path), pattern, ...more }, config(dir));

/** The files that hold matches, from the jail. */
async function filesWith(dir: TempDir, more: object, path = 'j'): Promise<string[]> {
  const { matches } = await search(dir, path, 'needle', more);
  return matches.map((match) => match.path.slice(dir.path('j').length + 1));
}

/** One worker for the tests of a group: its search processes take longer to start than a search. */
function servedOver(entries: TempEntries) {
  let dir: TempDir;
  let worker: ServedWorker;
  beforeAll(async () => {
    dir = await tempDir(entries);
    worker = await serveWorker(shell, config(dir));
  });
  afterAll(async () => {
    await worker[Symbol.asyncDispose]();
    await dir[Symbol.asyncDispose]();
  });
  return {
    pathOf: (name: string) => dir.path(name),
    search: async (path: string, pattern: string, more: object = {}) =>
      strictReply(grep, await worker.call(grep.id, { path: dir.path(path), pattern, ...more })),
  };
}

describe('in a file, a folder, a link and a way back', () => {
  const { pathOf, search: found } = servedOver({
    'j/f.txt': 'alpha\nbeta\r\nalpha-beta\r\n',
    'j/link': { symlink: 'f.txt' },
    'j/d/': '',
    'j/d/f.txt': 'nothing',
  });

  test.each(['j/f.txt', 'j', 'j/link', 'j/d/..'])('shell.F33 lines of %s that match, with their path', async (path) => {
    const file = pathOf('j/f.txt');
    expect(await found(path, 'alpha')).toEqual({
      matches: [
        { path: file, line: 1, content: 'alpha' },
        { path: file, line: 3, content: 'alpha-beta' },
      ],
      truncated: false,
    });
  });
});

test('shell.F35 a missing path is reported before a faulty regex', async () => {
  await using dir = await tempDir({ 'j/f': '' });
  await expect(search(dir, 'j/gone', '(')).rejects.toMatchObject({ code: 'S211' });
  await expect(search(dir, 'j', '(')).rejects.toMatchObject({ code: 'S217' });
  await expect(search(dir, 'j', '(', { recursive: false })).rejects.toMatchObject({ code: 'S217' });
  await expect(search(dir, 'j', 'x', { recursive: false })).rejects.toMatchObject({ code: 'S210' });
  await expect(search(dir, 'j', 'x'.repeat(70_000))).rejects.toMatchObject({ code: 'S217' });
  await expect(search(dir, 'j', 'x', { include_glob: ['x'.repeat(5000)] })).rejects.toMatchObject({ code: 'S210' });
});

test('shell.F36 shell.F38 truncated means that there was more; 0 means without a limit', async () => {
  await using dir = await tempDir({ 'j/f': 'x\n'.repeat(5) });
  const counted = async (max_matches: number) => {
    const { matches, truncated } = await search(dir, 'j', 'x', { max_matches });
    return [matches.length, truncated];
  };
  expect(await Promise.all([2, 4, 5, 6, 0].map(counted))).toEqual([
    [2, true],
    [4, true],
    [5, false],
    [5, false],
    [5, false],
  ]);
});

test('more than a thread takes at once is found without a limit', async () => {
  await using dir = await tempDir({ 'j/f': 'x\n'.repeat(20_000) });
  const { matches, truncated } = await search(dir, 'j', 'x', { max_matches: 0 });
  expect([matches.length, truncated]).toEqual([20_000, false]);
});

test('shell.F39 a file with a NUL byte is passed over', async () => {
  await using dir = await tempDir({ 'j/bin': 'needle\0needle\n', 'j/text': 'needle' });
  expect(await filesWith(dir, {})).toEqual(['text']);
  expect(await filesWith(dir, {}, 'j/bin')).toEqual([]);
});

describe('globs', () => {
  const { pathOf, search: found } = servedOver(
    Object.fromEntries(
      ['keep.rs', 'skip.txt', 'a/keep.rs', 'a/target/x.o', 'target/a/b.o'].map((name) => [`j/${name}`, 'needle']),
    ),
  );

  test.each([
    ['shell.F41 a name', { include_glob: ['*.rs'] }, ['a/keep.rs', 'keep.rs']],
    ['shell.F41 all but a name', { exclude_glob: ['*.txt'] }, ['a/keep.rs', 'a/target/x.o', 'keep.rs', 'target/a/b.o']],
    ['shell.F42 a folder at any depth', { exclude_glob: ['**/target/**', '*.txt'] }, ['a/keep.rs', 'keep.rs']],
    ['a folder by its name', { exclude_glob: ['target', '*.txt'] }, ['a/keep.rs', 'keep.rs']],
    ['folders alone', { exclude_glob: ['target/', 'skip.txt/'] }, ['a/keep.rs', 'keep.rs', 'skip.txt']],
    ['a folder at the top', { exclude_glob: ['/target', '*.txt'] }, ['a/keep.rs', 'a/target/x.o', 'keep.rs']],
    ['all but one', { exclude_glob: ['*', '!/keep.rs'] }, ['keep.rs']],
    ['a path', { include_glob: ['a/*.rs'] }, ['a/keep.rs']],
    ['what is below a path', { include_glob: ['/a/'] }, ['a/keep.rs', 'a/target/x.o']],
    ['any depth in between', { include_glob: ['a/**/*.o'] }, ['a/target/x.o']],
    ['none in between', { include_glob: ['**/keep.rs'] }, ['a/keep.rs', 'keep.rs']],
    [
      'classes, and braces that stand for themselves',
      { include_glob: ['[a-k]eep.rs', '{skip,x}.txt'] },
      ['a/keep.rs', 'keep.rs'],
    ],
    ['all', { include_glob: ['**'], exclude_glob: ['target/**', 'a/**', '?kip.txt'] }, ['keep.rs']],
  ])('%s', async (_, globs, expected) => {
    const { matches } = await found('j', 'needle', globs);
    expect(matches.map(({ path }) => path)).toEqual(expected.map((name) => pathOf(`j/${name}`)));
  });
});

test('globs start at the folder that is searched, and are not about a file that is named', async () => {
  await using dir = await tempDir({ 'j/a/b/x.rs': 'needle', 'j/a/b/c/x.rs': 'needle' });
  expect(await filesWith(dir, { include_glob: ['b/*.rs'] }, 'j/a')).toEqual(['a/b/x.rs']);
  expect(await filesWith(dir, { include_glob: ['b/*.rs'] })).toEqual([]);
  expect(await filesWith(dir, { include_glob: ['*.txt'] }, 'j/a/b/x.rs')).toEqual(['a/b/x.rs']);
});

test('a file whose name looks like a glob is the one that is searched', async () => {
  await using dir = await tempDir({ 'j/[a].*{x}\\': 'needle', 'j/a.b': 'needle' });
  expect(await filesWith(dir, {}, 'j/[a].*{x}\\')).toEqual(['[a].*{x}\\']);
});

test('shell.F44 what cannot be read is reported, and the rest is searched', async () => {
  const deep = Array.from({ length: 520 }, () => 'd').join('/');
  await using dir = await tempDir({ 'j/a': 'needle', [`j/${deep}/too-deep`]: 'needle', 'j/z': 'needle' });
  const { matches, truncated, skipped } = await search(dir, 'j', 'needle');
  expect(matches.map(({ path }) => path)).toEqual([dir.path('j/a'), dir.path('j/z')]);
  expect([truncated, skipped]).toEqual([
    false,
    [{ path: dir.path(`j/${'d/'.repeat(512).slice(0, -1)}`), reason: 'too-deep' }],
  ]);
});

test('shell.F45 a denylisted path below is never read', async () => {
  await using dir = await tempDir({
    'j/d/a': 'needle',
    'j/d/secret/x': 'needle',
    'j/d/secretive': 'needle',
    'j/link': { symlink: 'd/secret' },
  });
  expect(await filesWith(dir, {})).toEqual(['d/a', 'd/secretive']);
  expect(await filesWith(dir, {}, 'j/d')).toEqual(['d/a', 'd/secretive']);
});

test('links below are not followed, hidden files are searched', async () => {
  await using dir = await tempDir({ 'o/x': 'needle', 'j/.git/x': 'needle', 'j/out': { symlink: '../o' } });
  expect(await filesWith(dir, {})).toEqual(['.git/x']);
});

describe('a line is searched whole', () => {
  const { pathOf, search: found } = servedOver({ 'j/f': 'éééneedle\n' });

  test.each([
    [5, 'éé…'],
    [6, 'ééé…'],
    [8, 'éééne…'],
    [11, 'éééneedl…'],
    [12, 'éééneedle'],
    [0, 'éééneedle'],
  ])('and shown up to %d bytes, in whole characters', async (max_line_bytes, content) => {
    expect((await found('j', 'needle$', { max_line_bytes })).matches).toEqual([
      { path: pathOf('j/f'), line: 1, content },
    ]);
  });
});

test('case is ignored when asked, and an empty pattern matches every line', async () => {
  await using dir = await tempDir({ 'j/f': 'Needle\n\nÉ\n' });
  expect((await search(dir, 'j', 'NEEDLE|é', { ignore_case: true })).matches.map(({ line }) => line)).toEqual([1, 3]);
  expect((await search(dir, 'j', 'NEEDLE')).matches).toEqual([]);
  expect((await search(dir, 'j', '')).matches.map(({ line }) => line)).toEqual([1, 2, 3]);
});
