/**
 * The situations in which patches of other agents must apply or be refused, one for each outside case of
 * `npm run compat:codex-patch`, with files and patches of our own: so every run of the tests has them.
 */
import { expect, test } from 'vitest';

import { filesBelow, patchCases, tempDir } from '#testing';
import { applyPatch } from './apply-patch.ts';

const { apply, v4a } = patchCases(applyPatch);

type Files = Record<string, string>;

const APPLIED: [title: string, before: Files, patch: string, after: Files][] = [
  ['a file is added', {}, v4a('*** Add File: greet.md', '+hello', '+you'), { 'greet.md': 'hello\nyou\n' }],
  [
    'a file is added, one is deleted and one is changed',
    { 'gone.md': 'x\n', 'kept.md': 'red\ngreen\n' },
    v4a(
      ...['*** Add File: deep/er/new.md', '+made', '*** Delete File: gone.md'],
      ...['*** Update File: kept.md', '@@', ' red', '-green', '+blue'],
    ),
    { 'deep/er/new.md': 'made\n', 'kept.md': 'red\nblue\n' },
  ],
  [
    'two chunks in one file',
    { 'n.md': '1\n2\n3\n4\n5\n' },
    v4a('*** Update File: n.md', '@@', '-2', '+two', '@@', '-4', '+four'),
    { 'n.md': '1\ntwo\n3\nfour\n5\n' },
  ],
  [
    'a changed file moves into a directory that is missing',
    { 'here/a.md': 'old text\n', 'here/b.md': 'b\n' },
    v4a('*** Update File: here/a.md', '*** Move to: there/deep/a.md', '@@', '-old text', '+new text'),
    { 'here/b.md': 'b\n', 'there/deep/a.md': 'new text\n' },
  ],
  [
    'a move replaces the file at its destination',
    { 'here/a.md': 'from\n', 'there/a.md': 'in the way\n' },
    v4a('*** Update File: here/a.md', '*** Move to: there/a.md', '@@', '-from', '+moved'),
    { 'there/a.md': 'moved\n' },
  ],
  ['an added file replaces another', { 'a.md': 'old\n' }, v4a('*** Add File: a.md', '+new'), { 'a.md': 'new\n' }],
  [
    'a changed file without a last newline gets one',
    { 'a.md': 'a line without an end' },
    v4a('*** Update File: a.md', '@@', '-a line without an end', '+one', '+two'),
    { 'a.md': 'one\ntwo\n' },
  ],
  [
    'a chunk of added lines alone',
    { 'a.md': 'one\ntwo\n' },
    v4a('*** Update File: a.md', '@@', '+three', '+four'),
    { 'a.md': 'one\ntwo\nthree\nfour\n' },
  ],
  [
    'spaces around the header of a section',
    { 'a.md': 'old\n' },
    v4a('  *** Update File: a.md', '@@', '-old', '+new'),
    { 'a.md': 'new\n' },
  ],
  [
    'spaces around the first and the last marker',
    { 'a.md': 'one\n' },
    ' *** Begin Patch\n*** Update File: a.md\n@@\n-one\n+two\n*** End Patch ',
    { 'a.md': 'two\n' },
  ],
  [
    'spaces after the markers, in a text with lines around it',
    { 'a.md': 'one\n' },
    '*** Begin Patch  \n*** Update File: a.md\n@@\n-one\n+two\n  *** End Patch\n',
    { 'a.md': 'two\n' },
  ],
  [
    'letters and signs beyond ASCII',
    { 'a.md': 'erste Zeile\nnaïve café – ✓\n' },
    v4a('*** Update File: a.md', '@@', ' erste Zeile', '-naïve café – ✓', '+naïve café – ✗'),
    { 'a.md': 'erste Zeile\nnaïve café – ✗\n' },
  ],
  [
    'a file is deleted and the one beside it is kept',
    { 'old.md': 'x\n', 'kept.md': 'y\n' },
    v4a('*** Delete File: old.md'),
    { 'kept.md': 'y\n' },
  ],
  [
    'a chunk of removed lines alone',
    { 'a.md': 'one\ntwo\nthree\n' },
    v4a('*** Update File: a.md', '@@', ' one', '-two', ' three'),
    { 'a.md': 'one\nthree\n' },
  ],
  [
    'the marker of the end of the file',
    { 'a.md': 'x\nlast\n' },
    v4a('*** Update File: a.md', '@@', ' x', '-last', '+end', '*** End of File'),
    { 'a.md': 'x\nend\n' },
  ],
  [
    'a file with CRLF keeps it',
    { 'a.md': 'one\r\ntwo\r\n' },
    v4a('*** Update File: a.md', '@@', ' one', '-two', '+zwei', '+drei'),
    { 'a.md': 'one\r\nzwei\r\ndrei\r\n' },
  ],
  [
    'of mixed endings untouched lines keep theirs',
    { 'a.md': 'one\r\ntwo\nthree\r\nfour\r\n' },
    v4a('*** Update File: a.md', '@@', ' two', '-three', '+drei'),
    { 'a.md': 'one\r\ntwo\ndrei\r\nfour\r\n' },
  ],
];

test.each(APPLIED)('patch.C1 %s', async (_, before, patch, after) => {
  await using dir = await tempDir(before);
  await apply(dir, patch);
  expect(filesBelow(dir)).toEqual(after);
});

const KEPT = { 'a.md': 'kept\n', 'dir/b.md': 'b\n' };

test.each([
  ['a patch without sections', v4a(), 'C210'],
  ['a context that is missing', v4a('*** Update File: a.md', '@@', '-not there', '+new'), 'C222'],
  ['a deleted file that is missing', v4a('*** Delete File: missing.md'), 'C211'],
  ['an update without lines', v4a('*** Update File: a.md'), 'C210'],
  ['an updated file that is missing', v4a('*** Update File: missing.md', '@@', '-x', '+y'), 'C211'],
  ['a deleted directory', v4a('*** Delete File: dir'), 'C210'],
  ['an unknown header', v4a('*** Frobnicate File: a.md'), 'C210'],
  // Where the other agent keeps the first file, ours changes nothing.
  ['a failure after a file was added', v4a('*** Add File: new.md', '+x', '*** Delete File: missing.md'), 'C211'],
])('patch.C1 %s is refused and changes nothing', async (_, patch, code) => {
  await using dir = await tempDir(KEPT);
  await expect(apply(dir, patch)).rejects.toMatchObject({ code });
  expect(filesBelow(dir)).toEqual(KEPT);
});
