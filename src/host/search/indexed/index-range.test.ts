import { expect, test } from 'vitest';

import { tempDir } from '#testing';
import { realPath } from '../../jail/pin-by-path.ts';
import { walkDirsBelow } from '../../walk/walk-dir.ts';
import { holdsFile, reachesInto, splitTree } from './index-range.ts';

const { signal } = new AbortController();

test('a tree is split where about as many files lie before as behind', async () => {
  const names = ['a/1', 'a/2', 'a-b', 'b/c/1', 'b/c/2', 'd', 'e/1', 'e/2'];
  await using dir = await tempDir(Object.fromEntries(names.map((name) => [name, ''])));
  const openDir = walkDirsBelow(realPath(dir.root), 'descriptor');
  expect(await splitTree(openDir, { partCount: 1, signal })).toEqual([{ from: '', to: undefined }]);
  expect(await splitTree(openDir, { partCount: 2, signal })).toEqual([
    { from: '', to: 'd' },
    { from: 'd', to: undefined },
  ]);
  const ranges = await splitTree(openDir, { partCount: 3, signal });
  expect(ranges).toHaveLength(3);
  expect(await splitTree(openDir, { signal })).toHaveLength(1);
  expect(names.map((name) => ranges.filter((range) => holdsFile(range, name)).length)).toEqual(names.map(() => 1));
});

test('a tree without files is one part', async () => {
  await using dir = await tempDir({});
  expect(await splitTree(walkDirsBelow(realPath(dir.root), 'descriptor'), { partCount: 4, signal })).toHaveLength(1);
});

test.each([
  ['a', true],
  ['a/b', true],
  ['a/b/c', false],
  ['a/b/x', true],
  ['a-b', false],
  ['a/c', true],
  ['b', true],
  ['c/a', false],
  ['c', false],
  ['', true],
])('a part from a/b/x to c reaches into %s: %s', (dir, expected) => {
  expect(reachesInto({ from: 'a/b/x', to: 'c' }, dir)).toBe(expected);
});
