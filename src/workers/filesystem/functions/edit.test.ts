import { linkSync, readFileSync, statSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import { versionOf } from '#host';
import { filesystemCases, tempDir, treeOf, type TempDir } from '#testing';
import { openFilesystem } from '../worker.ts';
import { edit } from './edit.ts';

describe.each(['descriptor', 'portable'] as const)('%s jail', (mode) => {
  const call = filesystemCases(openFilesystem, mode);
  const editing = (dir: TempDir, old_string: string, new_string: string, more = {}, config = {}) =>
    call(edit, dir, { path: 'f', old_string, new_string, ...more }, config);
  const text = (dir: TempDir) => readFileSync(dir.path('ws/f'), 'utf8');

  test('filesystem.D13 the first occurrence is replaced and the lines around it are shown', async () => {
    await using dir = await tempDir({ 'ws/f': 'a b a' });
    expect(await editing(dir, 'a', 'X')).toEqual({
      success: true,
      data: {
        path: dir.path('ws/f'),
        replacements: 1,
        matches: 2,
        lines: [1],
        note: 'old_string was 2 times in the file; 1 replaced, first at line 1. count: 0 replaces all',
        preview: '     1│X b a\n',
        version: versionOf(Buffer.from('X b a')),
      },
    });
    expect(text(dir)).toBe('X b a');
  });

  test.each([
    [0, 'X b X', 2],
    [1, 'X b a', 1],
    [2, 'X b X', 2],
    [9, 'X b X', 2],
  ])('filesystem.D14 count %i replaces as many as there are', async (count, expected, replacements) => {
    await using dir = await tempDir({ 'ws/f': 'a b a' });
    expect(await editing(dir, 'a', 'X', { count })).toMatchObject({ data: { replacements } });
    expect(text(dir)).toBe(expected);
  });

  test('filesystem.P4 filesystem.D17 the file is exchanged as a whole and keeps its mode; another link keeps the old one', async () => {
    await using dir = await tempDir({ 'ws/f': { content: 'old\n', mode: 0o755 } });
    linkSync(dir.path('ws/f'), dir.path('ws/hard'));
    const before = statSync(dir.path('ws/f'));
    expect(await editing(dir, 'old', 'new')).toMatchObject({ success: true });
    const after = statSync(dir.path('ws/f'));
    expect([after.mode, after.ino === before.ino]).toEqual([before.mode, false]);
    expect(treeOf(dir.path('ws'))).toEqual({ f: '755 new\n', hard: '755 old\n' });
  });

  test.each([
    ['filesystem.D16 old lines and new lines with LF', 'b\nc', 'B\nC\nD', 'a\r\nB\r\nC\r\nD\r\nd\r\n'],
    ['one line by several', 'b', 'B\nBB', 'a\r\nB\r\nBB\r\nc\r\nd\r\n'],
    ['what is spelled as the file spells it', 'b\r\nc', 'x', 'a\r\nx\r\nd\r\n'],
    ['what is wanted exactly so', 'b\r\n', 'b\n', 'a\r\nb\nc\r\nd\r\n'],
  ])('filesystem.P4 %s in a file with CRLF', async (_, from, to, expected) => {
    await using dir = await tempDir({ 'ws/f': 'a\r\nb\r\nc\r\nd\r\n' });
    expect(await editing(dir, from, to)).toMatchObject({ success: true });
    expect(text(dir)).toBe(expected);
  });

  test('CRLF finds the lines of a file with LF, whose endings stay', async () => {
    await using dir = await tempDir({ 'ws/f': 'a\nb\nc\n' });
    expect(await editing(dir, 'a\r\nb', 'x')).toMatchObject({ success: true });
    expect(text(dir)).toBe('x\nc\n');
  });

  test('filesystem.P4 what is not there is answered with the lines most like it, and nothing changes', async () => {
    await using dir = await tempDir({
      'ws/f': 'function add(a, b) {\n  return a + b;\n}\n\nfunction sub(a, b) {\n  return a - b;\n}\n',
    });
    const before = statSync(dir.path('ws/f')).ctimeMs;
    expect(await editing(dir, 'function  add(a,b) {', 'x')).toEqual({
      success: false,
      error: `old_string is not in ${dir.path('ws/f')}; copy the text from metadata.closest`,
      metadata: {
        code: 'F219',
        closest: [
          { line: 1, text: 'function add(a, b) {', similarity: expect.closeTo(0.9, 1) },
          { line: 5, text: 'function sub(a, b) {', similarity: expect.closeTo(0.7, 1) },
        ],
      },
    });
    expect(await editing(dir, 'zzz', 'x')).toMatchObject({ metadata: { code: 'F219', closest: [] } });
    expect(statSync(dir.path('ws/f')).ctimeMs).toBe(before);
  });

  test('expect_unique refuses what is there twice, naming the lines', async () => {
    await using dir = await tempDir({ 'ws/f': 'a\nb\na\n' });
    expect(await editing(dir, 'a', 'X', { expect_unique: true })).toEqual({
      success: false,
      error: `old_string is 2 times in ${dir.path('ws/f')}, first at lines 1, 3; expect_unique is set: give more of the text around it, or count: 0 to replace all`,
      metadata: { code: 'F220', count: 2, lines: [1, 3] },
    });
    expect(text(dir)).toBe('a\nb\na\n');
    expect(await editing(dir, 'b', 'X', { expect_unique: true })).toMatchObject({ success: true });
    expect(await editing(dir, 'a', 'Y', { expect_unique: true, count: 0 })).toMatchObject({
      data: { replacements: 2 },
    });
  });

  test.each([
    ['an empty text', '', 'x', {}, '`old_string` must not be empty', 'F210'],
    ['the same text', 'a', 'a', {}, '`old_string` and `new_string` are the same', 'F210'],
    ['a negative count', 'a', 'b', { count: -1 }, '`count` must be at least 0 (got -1)', 'F210'],
    ['a file that is missing', 'a', 'b', { path: 'no' }, '$/no does not exist', 'F211'],
    ['a directory', 'a', 'b', { path: '.' }, '$ is not a regular file', 'F212'],
    [
      'data',
      'a',
      'b',
      { path: 'data' },
      '$/data is not utf-8 text; write the whole file instead, in its `encoding`',
      'F218',
    ],
    [
      'what would be too large',
      'a',
      'x'.repeat(20),
      {},
      '$/f is 20 bytes; max_file_size is 10, which the operator can raise',
      'F213',
    ],
    [
      'what is too large',
      'a',
      'b',
      { path: 'large' },
      '$/large is 11 bytes; max_file_size is 10, which the operator can raise',
      'F213',
    ],
  ])('%s is refused', async (_, from, to, more, error, code) => {
    await using dir = await tempDir({ 'ws/f': 'a', 'ws/data': Uint8Array.of(0x61, 0xff), 'ws/large': 'a'.repeat(11) });
    expect(await editing(dir, from, to, more, { max_file_size: 10 })).toEqual({
      success: false,
      error: error.replace('$', dir.path('ws')),
      metadata: { code },
    });
    expect(text(dir)).toBe('a');
  });

  test('expected_version guards against what another wrote meanwhile', async () => {
    await using dir = await tempDir({ 'ws/f': 'a' });
    expect(await editing(dir, 'a', 'b', { expected_version: 'sha256:0' })).toMatchObject({
      success: false,
      metadata: {
        code: 'F221',
        fix: { old_string: 'a', new_string: 'b', expected_version: versionOf(Buffer.from('a')) },
      },
    });
    expect(text(dir)).toBe('a');
  });
});

const editing = (dir: TempDir, payload: object) =>
  filesystemCases(openFilesystem, 'descriptor')(edit, dir, { path: 'f', ...payload });

test('a preview has two lines on either side, joins what is near and marks what is between', async () => {
  const lines = Array.from({ length: 30 }, (_, i) => `l${i + 1}`);
  lines[4] = lines[8] = lines[24] = 'X';
  await using dir = await tempDir({ 'ws/f': `${lines.join('\n')}\n` });
  const reply = await editing(dir, { old_string: 'X', new_string: 'Y', count: 0 });
  expect(reply.data!.preview).toBe(
    [
      ...['     3│l3', '     4│l4', '     5│Y', '     6│l6', '     7│l7', '     8│l8', '     9│Y'],
      ...['    10│l10', '    11│l11', '...', '    23│l23', '    24│l24', '    25│Y', '    26│l26', '    27│l27', ''],
    ].join('\n'),
  );
});

test('a preview of much stays short', async () => {
  await using dir = await tempDir({ 'ws/f': 'X' });
  const reply = await editing(dir, { old_string: 'X', new_string: 'y\n'.repeat(10_000) });
  const lines = String(reply.data!.preview).split('\n');
  expect([lines.length, lines.at(-2)]).toEqual([62, '...']);
});

test('text that is taken apart in overlapping ways is replaced from the top', async () => {
  await using dir = await tempDir({ 'ws/f': 'aaa' });
  expect(await editing(dir, { old_string: 'aa', new_string: 'b', count: 0 })).toMatchObject({
    data: { replacements: 1 },
  });
  expect(readFileSync(dir.path('ws/f'), 'utf8')).toBe('ba');
});

test('more occurrences than are replaced at once are refused, and fewer of them are replaced', async () => {
  await using dir = await tempDir({ 'ws/f': 'a'.repeat(100_001) });
  for (const asked of [{ count: 0 }, { count: 100_001 }, { expect_unique: true }]) {
    expect(await editing(dir, { old_string: 'a', new_string: 'b', ...asked })).toEqual({
      success: false,
      error: `old_string is more than 100000 times in ${dir.path('ws/f')}; give more of the text around it, or a smaller \`count\``,
      metadata: { code: 'F210' },
    });
  }
  expect(await editing(dir, { old_string: 'a', new_string: 'b', count: 100_000 })).toMatchObject({
    data: { replacements: 100_000 },
  });
  expect(readFileSync(dir.path('ws/f'), 'utf8')).toBe(`${'b'.repeat(100_000)}a`);
});

test('inserted text gets the line ending of the line that it is inserted into', async () => {
  await using dir = await tempDir({ 'ws/f': 'a a\r\na\na\r\na' });
  await editing(dir, { old_string: 'a', new_string: 'x\ny', count: 0 });
  expect(readFileSync(dir.path('ws/f'), 'utf8')).toBe('x\r\ny x\r\ny\r\nx\ny\nx\r\ny\r\nx\r\ny');
});

test('a preview cuts long lines between characters', async () => {
  const long = `X${'é'.repeat(5000)}\r\nY${'日'.repeat(5000)}`;
  await using dir = await tempDir({ 'ws/f': long });
  const reply = await editing(dir, { old_string: 'X', new_string: 'Z' });
  expect(reply.data!.preview).toBe(`     1│Z${'é'.repeat(999)}\n     2│Y${'日'.repeat(999)}\n`);
});

test('edits of one file at the same time are all kept', async () => {
  await using dir = await tempDir({ 'ws/f': Array.from({ length: 20 }, (_, i) => `<${i}>\n`).join('') });
  const replies = await Promise.all(
    Array.from({ length: 20 }, (_, i) => editing(dir, { old_string: `<${i}>`, new_string: `[${i}]` })),
  );
  expect(replies.every(({ success }) => success)).toBe(true);
  expect(readFileSync(dir.path('ws/f'), 'utf8')).toBe(Array.from({ length: 20 }, (_, i) => `[${i}]\n`).join(''));
});
