import { readFileSync, statSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import { versionOf } from '#host';
import type { Change } from '#protocol';
import { filesBelow, patchCases, tempDir } from '#testing';
import { applyPatch } from './apply-patch.ts';

const MODE_BITS = 0o777;

const { apply, v4a } = patchCases(applyPatch);
const version = (text: string) => versionOf(Buffer.from(text));

test('the response reports each file, the line of each chunk and the new lines', async () => {
  await using dir = await tempDir({ 'a.txt': 'one\ntwo\nthree\n', 'old.txt': 'x\n', 'gone.txt': '' });
  const patch = v4a(
    ...['*** Add File: new/b.txt', '+hello'],
    ...['*** Update File: a.txt', '@@', ' one', '-two', '+TWO', '+and a half'],
    ...['*** Update File: old.txt', '*** Move to: moved.txt'],
    '*** Delete File: gone.txt',
  );
  expect(await apply(dir, patch)).toEqual({
    results: [
      { path: 'new/b.txt', kind: 'added', new_line_count: 1, version: version('hello\n'), chunks: [] },
      {
        path: 'a.txt',
        kind: 'modified',
        new_line_count: 4,
        version: version('one\nTWO\nand a half\nthree\n'),
        echo: { from_line: 1, lines: ['one', 'TWO', 'and a half', 'three'] },
        chunks: [{ chunk: 1, line: 1, level: 'exact', added: 2, removed: 1 }],
      },
      { path: 'moved.txt', kind: 'moved', from: 'old.txt', chunks: [] },
      { path: 'gone.txt', kind: 'deleted', chunks: [] },
    ],
    seq: expect.any(Number),
  });
  expect(filesBelow(dir)).toEqual({
    'a.txt': 'one\nTWO\nand a half\nthree\n',
    'moved.txt': 'x\n',
    'new/b.txt': 'hello\n',
  });
});

test.each([
  ['several chunks', 'a\nb\nc\nd\n', ['@@', '-a', '+A', '@@', '-d', '+D'], 'A\nb\nc\nD\n'],
  ['a first chunk without @@', 'a\nb\n', ['-a', '+A', ' b'], 'A\nb\n'],
  ['only removed lines', 'a\nb\nc\n', ['@@', ' a', '-b', ' c'], 'a\nc\n'],
  ['only new lines are appended', 'a\nb\n', ['@@', '+c', '+d'], 'a\nb\nc\nd\n'],
  ['new lines below a scope', 'f:\n  x\ng:\n  x\n', ['@@ g:', '+  y'], 'f:\n  x\ng:\n  y\n  x\n'],
  ['patch.C8 new lines for an empty file', '', ['@@', '+a'], 'a\n'],
  ['the end of the file is tried first', 'x\ny\nx\n', ['@@', '-x', '+z', '*** End of File'], 'x\ny\nz\n'],
  ['a wrong end marker is ignored', 'x\ny\n', ['@@', '-x', '+z', '*** End of File'], 'z\ny\n'],
  ['a scope narrows', 'f:\n  x\ng:\n  x\n', ['@@ g:', '-  x', '+  y'], 'f:\n  x\ng:\n  y\n'],
  ['scopes narrow further', 'A\n f\n  x\nB\n f\n  x\n', ['@@ B', '@@ f', '-  x', '+  y'], 'A\n f\n  x\nB\n f\n  y\n'],
  ['an empty context line without its space', 'a\n\nb\n', ['@@', ' a', '', '-b', '+c'], 'a\n\nc\n'],
  ['an empty context line after the last line', 'a\nb\n', ['@@', '-b', '+c', ' ', ''], 'a\nc\n'],
  ['chunks that share a line', 'a\nb\nc\n', ['@@', '-a', '+A', ' b', '@@', ' b', '-c', '+C'], 'A\nb\nC\n'],
  ['a changed last line gets a newline', 'no newline', ['@@', '-no newline', '+first', '+second'], 'first\nsecond\n'],
  ['patch.C8 an unchanged last line gets none', 'a\nb', ['@@', '-a', '+A'], 'A\nb'],
  ['lines appended after a missing newline', 'a\nb', ['@@', ' b', '+c'], 'a\nb\nc\n'],
  ['the last line is removed', 'a\nb', ['@@', ' a', '-b'], 'a\n'],
  [
    'patch.C8 CRLF',
    'one\r\ntwo\r\nthree\r\n',
    ['@@', '-one', '+ONE', ' two', '+x', ' three'],
    'ONE\r\ntwo\r\nx\r\nthree\r\n',
  ],
  [
    'patch.C8 mixed endings',
    'one\r\ntwo\rthree\nfour\r\n',
    ['@@', ' two', '-three', '+3', ' four'],
    'one\r\ntwo\r3\r\nfour\r\n',
  ],
  ['patch.C8 CR', 'one\rtwo\rthree\r', ['@@', '-two', '+2'], 'one\r2\rthree\r'],
  ['a line with CR inside', 'a\nb\rc\nd\n', ['@@', ' b\rc', '-d', '+e\rf'], 'a\nb\rc\ne\rf\n'],
  ['patch.C8 a byte order mark', '\uFEFFone\ntwo\n', ['@@', '-one', '+1', ' two'], '\uFEFF1\ntwo\n'],
  ['a byte order mark in the patch', '\uFEFFone\ntwo\n', ['@@', '-\uFEFFone', '+\uFEFF1'], '\uFEFF1\ntwo\n'],
  ['non-ASCII text', 'naïve café\n', ['@@', '-naïve café', '+naïve café ✅'], 'naïve café ✅\n'],
  ['the numbers of a unified diff', 'x\ny\nx\nz\n', ['@@ -3,2 +3,2 @@', '-x', '+X', ' z'], 'x\ny\nX\nz\n'],
])('V4A: %s', async (_, before, lines, after) => {
  await using dir = await tempDir({ f: before });
  await apply(dir, v4a('*** Update File: f', ...lines));
  expect(readFileSync(dir.path('f'), 'utf8')).toBe(after);
});

test.each([
  ['trailing-space', 'a \nb\t\nc\n', ['@@', ' a', '-b', '+B'], 'a \nB\nc\n', undefined],
  [
    'indentation',
    'if (x) {\n    y();\n}\n',
    ['@@', ' if (x) {', '-  y();', '+  z();', '+    q();'],
    'if (x) {\n    z();\n      q();\n}\n',
    true,
  ],
  [
    'indentation',
    '\tif x:\n\t\ty()\n',
    ['@@', '     if x:', '-        y()', '+        z()', '+            q()'],
    '\tif x:\n\t\tz()\n\t\t\tq()\n',
    true,
  ],
  ['indentation', 'a\n  b\n', ['@@', '-b', '+c', '+  d'], 'a\n  c\n    d\n', true],
  ['punctuation', 'say “hi” – now\n', ['@@', '-say "hi" - now', '+say "ho"'], 'say "ho"\n', undefined],
  ['punctuation', 'it’s\u00A0so\nb\n', ['@@', " it's so", '-b', '+c'], 'it’s\u00A0so\nc\n', undefined],
] as const)('level %s: %j', async (level, before, lines, after, reindented) => {
  await using dir = await tempDir({ f: before });
  const { results } = await apply(dir, v4a('*** Update File: f', ...lines));
  expect(results[0]!.chunks[0]).toMatchObject({ level, ...(reindented && { reindented }) });
  expect(readFileSync(dir.path('f'), 'utf8')).toBe(after);
});

test.each([
  ['exact', ['a '], 'C222'],
  ['space', ['a '], undefined],
  ['space', ['  a'], 'C222'],
  ['indent', ['  a'], undefined],
] as const)('fuzz %s for the line %j', async (fuzz, [line], code) => {
  await using dir = await tempDir({ f: `${line}\n` });
  const call = apply(dir, v4a('*** Update File: f', '@@', '-a', '+b'), { fuzz });
  if (code) await expect(call).rejects.toMatchObject({ code });
  else await call;
});

test('the first of several exact matches is used and the others are counted', async () => {
  await using dir = await tempDir({ f: 'x\ny\nx\nx\n' });
  const { results } = await apply(dir, v4a('*** Update File: f', '@@', '-x', '+z'));
  expect(results[0]!.chunks).toEqual([{ chunk: 1, line: 1, level: 'exact', other_places: 2, added: 1, removed: 1 }]);
  expect(readFileSync(dir.path('f'), 'utf8')).toBe('z\ny\nx\nx\n');
});

describe('unified diffs', () => {
  test.each([
    ['a hunk', 'a\nb\nc\n', ['@@ -1,3 +1,3 @@', ' a', '-b', '+B', ' c'], 'a\nB\nc\n'],
    ['wrong counts', 'a\nb\nc\n', ['@@ -1,9 +1,1 @@', ' a', '-b', '+B', ' c'], 'a\nB\nc\n'],
    ['a wrong line', 'x\nx\nx\na\nb\n', ['@@ -40,2 +40,2 @@ f()', ' a', '-b', '+B'], 'x\nx\nx\na\nB\n'],
    ['the nearest of several', 'x\n1\nx\n2\nx\n', ['@@ -4,1 +4,1 @@', '-x', '+X'], 'x\n1\nX\n2\nx\n'],
    ['a header without numbers', 'a\nb\n', ['@@', ' a', '-b', '+B'], 'a\nB\n'],
    ['the last newline is removed', 'a\nb\n', ['@@ -2 +2 @@', '-b', '+b', '\\ No newline at end of file'], 'a\nb'],
    ['a last newline is added', 'a\nb', ['@@ -2 +2 @@', '-b', '\\ No newline at end of file', '+b'], 'a\nb\n'],
    ['no newline is kept', 'a\nb', ['@@ -1,2 +1,2 @@', '-a', '+A', ' b', '\\ No newline at end of file'], 'A\nb'],
    ['lines that look like headers', '-- a\nx\n', ['@@ -1,2 +1,2 @@', '--- a', '+++ b', ' x'], '++ b\nx\n'],
    ['an empty line without its space', 'a\n\nb\n', ['@@ -1,3 +1,3 @@', ' a', '', '-b', '+c', ''], 'a\n\nc\n'],
    ['the beginning of an empty file', '', ['@@ -0,0 +1 @@', '+a'], 'a\n'],
    ['the beginning of a file', 'b\n', ['@@ -0,0 +1 @@', '+a'], 'a\nb\n'],
    ['CRLF in the diff', 'a\r\nb\r\n', ['@@ -1,2 +1,2 @@', ' a\r', '-b\r', '+c\r'], 'a\r\nc\r\n'],
  ])('%s', async (_, before, hunk, after) => {
    await using dir = await tempDir({ 'd/f': before });
    await apply(dir, ['--- a/d/f', '+++ b/d/f', ...hunk, ''].join('\n'));
    expect(readFileSync(dir.path('d/f'), 'utf8')).toBe(after);
  });

  test('git: add, delete, rename, mode, quoted names and a mail around it', async () => {
    await using dir = await tempDir({ 'old name': 'a\nb\n', 'run.sh': 'x\n', gone: 'y\n', 'ä b': 'q\n', empty: '' });
    const mail = [
      ...[
        'From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001',
        'Subject: [PATCH] all',
        '',
        '---',
        ' 6 files',
        '',
      ],
      ...[
        'diff --git a/new.sh b/new.sh',
        'new file mode 100755',
        'index 000..111',
        '--- /dev/null',
        '+++ b/new.sh',
        '@@ -0,0 +1 @@',
        '+echo',
      ],
      ...['diff --git a/old name b/new name', 'similarity index 50%', 'rename from old name', 'rename to new name'],
      ...['--- a/old name\t', '+++ b/new name\t', '@@ -1,2 +1,2 @@', ' a', '-b', '+B'],
      ...['diff --git a/run.sh b/run.sh', 'old mode 100644', 'new mode 100755'],
      ...['diff --git a/gone b/gone', 'deleted file mode 100644', '--- a/gone', '+++ /dev/null', '@@ -1 +0,0 @@', '-y'],
      ...['diff --git a/empty b/empty', 'deleted file mode 100644', 'index e69de29..0000000'],
      ...[
        'diff --git "a/\\303\\244 b" "b/\\303\\244 b"',
        '--- "a/\\303\\244 b"',
        '+++ "b/\\303\\244 b"',
        '@@ -1 +1 @@',
        '-q',
        '+Q',
      ],
      ...['-- ', '2.39.5', ''],
    ].join('\n');
    const { results } = await apply(dir, mail);
    expect(results.map(({ kind, path }) => `${kind} ${path}`)).toEqual([
      ...['added new.sh', 'moved new name', 'modified run.sh', 'deleted gone', 'deleted empty', 'modified ä b'],
    ]);
    expect(filesBelow(dir)).toEqual({ 'new name': 'a\nB\n', 'new.sh': 'echo\n', 'run.sh': 'x\n', 'ä b': 'Q\n' });
    expect(statSync(dir.path('new.sh')).mode & MODE_BITS).toBe(0o755);
    expect(statSync(dir.path('run.sh')).mode & MODE_BITS).toBe(0o755);
  });

  test('a file with other lines than the removed ones is not deleted', async () => {
    await using dir = await tempDir({ f: 'a\nb\n' });
    const patch = ['--- a/f', '+++ /dev/null', '@@ -1 +0,0 @@', '-a', ''].join('\n');
    await expect(apply(dir, patch)).rejects.toMatchObject({ code: 'C210' });
    expect(filesBelow(dir)).toEqual({ f: 'a\nb\n' });
  });
});

test('a moved and a replaced file keep their mode', async () => {
  await using dir = await tempDir({ a: { content: 'x\n', mode: 0o750 }, b: { content: 'y\n', mode: 0o640 } });
  await apply(dir, v4a('*** Update File: a', '*** Move to: c', '@@', '-x', '+X', '*** Add File: b', '+Y'));
  expect(filesBelow(dir)).toEqual({ b: 'Y\n', c: 'X\n' });
  expect(statSync(dir.path('c')).mode & MODE_BITS).toBe(0o750);
  expect(statSync(dir.path('b')).mode & MODE_BITS).toBe(0o640);
});

test('patch.C9 a later section applies to the result of an earlier one', async () => {
  await using dir = await tempDir({ a: '1\n2\n', b: 'b\n' });
  const update = (path: string, from: string, to: string) => [`*** Update File: ${path}`, '@@', `-${from}`, `+${to}`];
  const patch = v4a(
    ...update('a', '1', 'one'),
    ...update('./a', '2', 'two'),
    ...['*** Update File: a', '*** Move to: c'],
    ...update('c', 'one', 'ONE'),
    ...['*** Delete File: b', '*** Add File: b', '+again', '*** Add File: a', '+new'],
  );
  const { results } = await apply(dir, patch);
  expect(filesBelow(dir)).toEqual({ a: 'new\n', b: 'again\n', c: 'ONE\ntwo\n' });
  expect(results.map(({ kind }) => kind)).toEqual([
    ...['modified', 'modified', 'moved', 'modified', 'deleted', 'added', 'added'],
  ]);
});

test('two files are swapped', async () => {
  await using dir = await tempDir({ a: 'a\n', b: 'b\n' });
  const move = (from: string, to: string) => [`*** Update File: ${from}`, `*** Move to: ${to}`];
  await apply(dir, v4a(...move('a', 't'), ...move('b', 'a'), ...move('t', 'b')));
  expect(filesBelow(dir)).toEqual({ a: 'b\n', b: 'a\n' });
});

test('dry_run returns the same results and writes nothing', async () => {
  await using dir = await tempDir({ a: 'a\n' });
  const patch = v4a('*** Update File: a', '@@', '-a', '+A', '*** Add File: b', '+b');
  const found = await apply(dir, patch, { dry_run: true });
  expect(filesBelow(dir)).toEqual({ a: 'a\n' });
  const { seq, ...done } = await apply(dir, patch);
  expect(found).toEqual(done);
});

test('each change is reported to a call that asks for reports', async () => {
  await using dir = await tempDir({ a: 'a\n', b: 'b\n', c: 'c\n' });
  const changes: Change[] = [];
  const patch = v4a(
    ...['*** Update File: a', '@@', '-a', '+A', '*** Delete File: b', '*** Add File: d', '+d'],
    ...['*** Update File: c', '*** Move to: e'],
  );
  await apply(dir, patch, {}, { changes });
  expect(changes).toMatchObject([
    { path: 'a', kind: 'modified', hunks: [{ lines: ['-a', '+A'] }] },
    { path: 'b', kind: 'deleted' },
    { path: 'd', kind: 'created', hunks: [{ lines: ['+d'] }] },
    { path: 'e', kind: 'renamed', from: 'c' },
  ]);
});
