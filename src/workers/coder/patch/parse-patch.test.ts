/** Accepted forms of a patch, and the errors of an invalid one. */
import { expect, test } from 'vitest';

import { Turns } from '#host';
import { parsePatch } from './parse-patch.ts';

const turns = new Turns(new AbortController().signal, 5);
const parse = (...lines: string[]) => parsePatch(lines.join('\n'), turns);
const sections = async (...lines: string[]) => {
  const { files } = await parse(...lines);
  return files.map(({ kind, path, to, chunks }) => [kind, path, ...(to === undefined ? [] : [to]), chunks.length]);
};

const UPDATE = ['*** Update File: f', '@@', '-a', '+b'];
const BEGIN = '*** Begin Patch';
const END = '*** End Patch';

test.each([
  ['a plain V4A patch', [BEGIN, ...UPDATE, END]],
  ['empty lines around it', ['', '  ', BEGIN, '', ...UPDATE, '', END, '', '']],
  ['indented markers', [` ${BEGIN}`, '  *** Update File: f  ', ' @@', '-a', '+b', `  ${END} `]],
  ['a heredoc', ["<<'EOF'", BEGIN, ...UPDATE, END, 'EOF']],
  ['a heredoc after a command', ['apply_patch <<EOF', BEGIN, ...UPDATE, END, 'EOF', '']],
  ['a Markdown fence', ['```diff', BEGIN, ...UPDATE, END, '```']],
  ['carriage returns', [`${BEGIN}\r`, ...UPDATE.map((line) => `${line}\r`), `${END}\r`]],
  ['an environment', [BEGIN, '*** Environment ID: x', ...UPDATE, END]],
  ['a diff', ['--- a/f', '+++ b/f', '@@ -1 +1 @@', '-a', '+b']],
  ['a diff without prefixes', ['--- f', '+++ f', '@@ -1 +1 @@', '-a', '+b']],
  ['a diff with times', ['--- f\t2026-01-01 10:00:00', '+++ f\t2026-01-02 10:00:00', '@@ -1 +1 @@', '-a', '+b']],
  ['a diff of svn', ['Index: f', '=====', '--- f\t(revision 1)', '+++ f\t(working copy)', '@@ -1 +1 @@', '-a', '+b']],
  ['a diff of git with other prefixes', ['diff --git i/f w/f', '--- i/f', '+++ w/f', '@@ -1 +1 @@', '-a', '+b']],
  ['a diff in a fence', ['```', '--- a/f', '+++ b/f', '@@ -1 +1 @@', '-a', '+b', '```']],
])('%s', async (_, lines) => {
  expect(await sections(...lines)).toEqual([['update', 'f', 1]]);
});

test('an indented or signed line that looks like a marker is a line of the chunk', async () => {
  const lines = [
    '*** Update File: f',
    '@@',
    ' *** Begin Patch',
    '+*** Delete File: x',
    ' *** Update File: y',
    ` ${END}`,
  ];
  expect(await sections(BEGIN, ...lines, END)).toEqual([['update', 'f', 1]]);
});

test('file names after a chunk with too large counts start the next file', async () => {
  const diff = (name: string) => [`--- a/${name}`, `+++ b/${name}`, '@@ -1,9 +1,9 @@', '-a', '+b'];
  expect(await sections(...diff('f'), ...diff('g'))).toEqual([
    ['update', 'f', 1],
    ['update', 'g', 1],
  ]);
});

test.each([
  ['nothing', [''], 1, 'the patch is empty'],
  ['no patch', ['', 'hello'], 2, 'a patch begins with "*** Begin Patch", "diff --git" or "--- ", not with "hello"'],
  ['no section', [BEGIN, END], 1, 'the patch changes nothing'],
  ['no end', [BEGIN, ...UPDATE], 5, 'the last line of the patch must be "*** End Patch", not "+b"'],
  ['more after the end', [BEGIN, ...UPDATE, END, '@@'], 7, 'nothing may follow "*** End Patch"'],
  ['no path', [BEGIN, '*** Add File: ', END], 2, 'the path is missing'],
  ['an update without lines', [BEGIN, '*** Update File: f', END], 2, 'the update of f has no lines'],
  [
    'a chunk without lines',
    [BEGIN, '*** Update File: f', '@@', END],
    3,
    'a chunk without lines; write lines that begin with " ", "-" or "+" below "@@"',
  ],
  ['a line without sign', [BEGIN, ...UPDATE, 'c', END], 6, 'a line of an update begins with " ", "-" or "+", not "c"'],
  [
    'a new file with another sign',
    [BEGIN, '*** Add File: f', '-a', END],
    3,
    'a line of a new file begins with "+", not "-a"',
  ],
  [
    'a new file with a bare empty line',
    [BEGIN, '*** Add File: f', '+a', '', '+b', END],
    4,
    'an empty line of a new file is written as "+"',
  ],
  [
    'lines below a delete',
    [BEGIN, '*** Delete File: f', '-a', END],
    3,
    '"*** Delete File: " takes no lines; remove "-a"',
  ],
  [
    'a move after a chunk',
    [BEGIN, ...UPDATE, '*** Move to: g', END],
    6,
    '"*** Move to: " is allowed once, directly below "*** Update File: "',
  ],
  [
    'text before the first section',
    [BEGIN, 'hello', END],
    2,
    'expected "*** Add File: ", "*** Delete File: " or "*** Update File: ", not "hello"',
  ],
  [
    'an unknown marker',
    [BEGIN, '*** Frobnicate File: f', END],
    2,
    'expected "*** Add File: ", "*** Delete File: " or "*** Update File: " or "*** End Patch", not "*** Frobnicate File: f"',
  ],
  ['a chunk without a file', ['@@ -1 +1 @@', '-a', '+b'], 1, 'a chunk needs "--- " and "+++ " lines above it'],
  [
    'a line of a diff without sign',
    ['--- a/f', '+++ b/f', '@@ -1,2 +1,2 @@', '-a', '+b', 'c'],
    6,
    'a line of a chunk begins with " ", "-" or "+", not "c"',
  ],
  [
    'two names',
    ['--- a/f', '+++ b/g', '@@ -1 +1 @@', '-a', '+b'],
    1,
    'the names "f" and "g" differ; to move the file, add the lines "rename from" and "rename to"; if not, write one name twice',
  ],
  [
    'binary',
    ['diff --git a/f b/f', 'index 1..2 100644', 'GIT binary patch'],
    3,
    'binary files cannot be patched; write them with shell::fs::write',
  ],
  [
    'a copy',
    ['diff --git a/f b/g', 'copy from f', 'copy to g'],
    2,
    'files cannot be copied by a patch; add the new file with all its lines',
  ],
  [
    'a submodule',
    ['diff --git a/f b/f', 'index 1..2 160000', '--- a/f', '+++ b/f'],
    2,
    'submodules cannot be patched; run git in them',
  ],
  [
    'a symlink',
    ['diff --git a/f b/f', 'new file mode 120000'],
    2,
    'symlinks cannot be patched; create them with a command',
  ],
  [
    'a merge',
    ['diff --cc f', '--- a/f', '+++ b/f', '@@@ -1 -1 +1 @@@'],
    1,
    'a merge diff has several old sides; make the diff against one parent',
  ],
  [
    'an invalid escape in a name',
    ['--- "a/\\q"', '+++ "b/\\q"', '@@ -1 +1 @@', '-a', '+b'],
    1,
    '\\q is not an escape in a quoted name',
  ],
  [
    'a name that is not UTF-8',
    ['--- "a/\\377"', '+++ "b/\\377"', '@@ -1 +1 @@', '-a', '+b'],
    1,
    '"a/\\377" is not a name in UTF-8',
  ],
  [
    'other line endings',
    ['--- a/f', '+++ b/f', '@@ -1 +1 @@', '-a\r', '+a'],
    4,
    'the chunk changes line endings only, which a patch keeps; rewrite the whole file',
  ],
  [
    'a byte order mark',
    ['--- a/f', '+++ b/f', '@@ -1 +1 @@', '-\uFEFFa', '+a'],
    4,
    'the chunk changes the byte order mark, which a patch keeps; rewrite the whole file',
  ],
  ['half a character', [`${BEGIN}\uD800`], 1, 'the patch is not Unicode text: it has half a surrogate pair'],
])('C210 %s', async (_, lines, line, problem) => {
  await expect(parse(...lines)).rejects.toMatchObject({
    code: 'C210',
    message: expect.stringContaining(`line ${line} of the patch: ${problem}`),
  });
});
