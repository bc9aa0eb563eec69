/** Diffs as git writes them: the result must be the file that git has, or nothing. */
import { expect, test } from 'vitest';

import { versionOf } from '#host';
import { filesBelow, patchCases, tempDir } from '#testing';
import { applyPatch } from '../functions/apply-patch.ts';

const { apply, v4a } = patchCases(applyPatch);

const renamed = (from: string, to: string) =>
  `diff --git a/${from} b/${to}\nsimilarity index 100%\nrename from ${from}\nrename to ${to}\n`;
const added = (path: string, ...lines: string[]) =>
  `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1,${lines.length} @@\n${lines.map((line) => `+${line}\n`).join('')}`;

test.each([
  ['a chain of renames', renamed('a', 'b') + renamed('b', 'c')],
  ['two files that change names', renamed('a', 'b') + renamed('b', 'a')],
  ['a new file at the old name of a rename', added('a', 'new') + renamed('a', 'c')],
  ['a rename to a name that is deleted', `${renamed('a', 'b')}diff --git a/b b/b\ndeleted file mode 100644\n`],
])('%s in the wrong order is refused: a file would be lost', async (_, patch) => {
  await using dir = await tempDir({ a: 'A\n', b: 'B\n' });
  await expect(apply(dir, patch)).rejects.toMatchObject({ code: 'C210', message: expect.stringContaining('section') });
  expect(filesBelow(dir)).toEqual({ a: 'A\n', b: 'B\n' });
});

test('a chain of renames is applied when each name is free first', async () => {
  await using dir = await tempDir({ a: 'A\n', b: 'B\n' });
  await apply(dir, renamed('b', 'c') + renamed('a', 'b') + added('a', 'new'));
  expect(filesBelow(dir)).toEqual({ a: 'new\n', b: 'A\n', c: 'B\n' });
});

test('a new file gets the line endings of its lines, unless the whole patch has CRLF', async () => {
  await using dir = await tempDir({});
  await apply(dir, added('git.bat', '@echo off\r', 'dir\r', 'mixed'));
  await apply(dir, v4a('*** Add File: v4a.bat', '+@echo off\r', '+dir\r'));
  await apply(dir, added('sent.txt', 'one', 'two').replaceAll('\n', '\r\n'));
  expect(filesBelow(dir)).toEqual({
    'git.bat': '@echo off\r\ndir\r\nmixed\n',
    'v4a.bat': '@echo off\r\ndir\r\n',
    'sent.txt': 'one\ntwo\n',
  });
});

test('a file with a byte order mark is added and deleted', async () => {
  await using dir = await tempDir({});
  await apply(dir, added('f', '\uFEFFone', 'two'));
  expect(filesBelow(dir)).toEqual({ f: '\uFEFFone\ntwo\n' });
  await apply(
    dir,
    'diff --git a/f b/f\ndeleted file mode 100644\n--- a/f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-\uFEFFone\n-two\n',
  );
  expect(filesBelow(dir)).toEqual({});
});

test('an exact match that shares context with the chunk above wins over a looser one below', async () => {
  await using dir = await tempDir({ f: 'a\nb\nc\nd\ne\n  c\n  d\nz\n' });
  const lines = ['@@', ' a', '-b', '+B', ' c', '@@', ' c', '-d', '+D'];
  expect(await apply(dir, v4a('*** Update File: f', ...lines))).toMatchObject({
    results: [{ chunks: [{ line: 1 }, { line: 3, level: 'exact' }] }],
  });
  expect(filesBelow(dir)).toEqual({ f: 'a\nB\nc\nD\ne\n  c\n  d\nz\n' });
});

test('an expected version of a missing file is a conflict; "absent" is not', async () => {
  await using dir = await tempDir({});
  const patch = v4a('*** Add File: f', '+x');
  const expected = versionOf(Buffer.from('y'));
  await expect(apply(dir, patch, { expected_versions: { f: expected } })).rejects.toMatchObject({ code: 'C221' });
  expect(filesBelow(dir)).toEqual({});
  await apply(dir, patch, { expected_versions: { f: 'absent' } });
  expect(filesBelow(dir)).toEqual({ f: 'x\n' });
});

test('a move to the same path is an update', async () => {
  await using dir = await tempDir({ f: 'a\n' });
  await apply(dir, v4a('*** Update File: f', '*** Move to: ./f', '@@', '-a', '+b'));
  expect(filesBelow(dir)).toEqual({ f: 'b\n' });
});
