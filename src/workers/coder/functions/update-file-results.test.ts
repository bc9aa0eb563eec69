import { describe, expect, test } from 'vitest';

import { versionOf } from '#host';
import { failureOf, insert, remove, replace, tempDir, updateCases, updateLines } from '#testing';
import { updateFile } from './update-file.ts';

const { call, update, text } = updateCases(updateFile);

describe('expected_version', () => {
  const seven = '1\n2\n3\n4\n5\n6\n7\n';
  const expected_version = versionOf(Buffer.from(seven));

  test('the file is edited at that version', async () => {
    await using dir = await tempDir({ 'a.txt': seven });
    const first = await update(dir, 'a.txt', [remove(7, 7)], { expected_version });
    expect(first).toMatchObject({ success: true });
    expect(await update(dir, 'a.txt', [remove(6, 6)], { expected_version: first.version })).toMatchObject({
      success: true,
    });
    expect(text(dir, 'a.txt')).toBe('1\n2\n3\n4\n5\n');
  });

  test('coder.P9 at another one C221 brings version, lines around the first operation, and the request to send again', async () => {
    await using dir = await tempDir({ 'a.txt': `0\n${seven}` });
    const ops = [updateLines(5, 5, 'five'), remove(1, 1)];
    const result = await update(dir, 'a.txt', ops, { expected_version });
    const version = versionOf(Buffer.from(`0\n${seven}`));
    expect(failureOf(result)).toEqual({
      code: 'C221',
      message: `a.txt is at version ${version}; the request expects ${expected_version}: read the file again`,
      version,
      region: { from_line: 3, to_line: 7, content: '2\n3\n4\n5\n6' },
      fix: { files: [{ path: 'a.txt', ops, expected_version: version }] },
    });
    expect(text(dir, 'a.txt')).toBe(`0\n${seven}`);
    expect(await call(dir, { ...(failureOf(result).fix as object) })).toMatchObject({ results: [{ success: true }] });
  });

  test.each([
    [
      'around the first match',
      [replace('6', 'six', { ignore_case: false })],
      { from_line: 4, to_line: 7, content: '4\n5\n6\n7' },
    ],
    [
      'the beginning when nothing matches',
      [replace('x', 'y', { ignore_case: false })],
      { from_line: 1, to_line: 3, content: '1\n2\n3' },
    ],
    ['the end when the lines are not there', [remove(20, 30)], { from_line: 6, to_line: 7, content: '6\n7' }],
    ['before an insertion', [insert(1, 'x')], { from_line: 1, to_line: 3, content: '1\n2\n3' }],
  ])('shows %s', async (_, ops, region) => {
    await using dir = await tempDir({ 'a.txt': seven });
    expect(failureOf(await update(dir, 'a.txt', ops, { expected_version: 'sha256:0' }))).toMatchObject({
      code: 'C221',
      region,
    });
  });

  test('stays short however long file and request are', async () => {
    await using dir = await tempDir({ 'a.txt': 'é'.repeat(2000) });
    const ops = [updateLines(1, 1, 'x'.repeat(20_000))];
    const failure = failureOf(await update(dir, 'a.txt', ops, { expected_version: 'sha256:0' }));
    expect(failure).toMatchObject({ code: 'C221', region: { content: 'é'.repeat(1024) } });
    expect(failure).not.toHaveProperty('fix');
    expect(failure.fix_note).toBe(
      'Change what the message says in the request and send it again, which is too long to be repeated here.',
    );
  });

  test('a binary file has no region', async () => {
    await using dir = await tempDir({ 'a.bin': Uint8Array.of(0xff) });
    const failure = failureOf(await update(dir, 'a.bin', [insert(1, 'x')], { expected_version: 'sha256:0' }));
    expect(Object.keys(failure)).toEqual(['code', 'message', 'fix', 'version']);
  });
});

describe('changes', () => {
  const ten = Array.from({ length: 10 }, (_, i) => `${i + 1}\n`).join('');

  test('have the line numbers after the edit, whatever else was edited', async () => {
    await using dir = await tempDir({ 'a.txt': ten });
    const ops = [replace('(?m)^2$', 'two\nlines'), remove(9, 9), insert(6, 'new'), replace('^', 'zero\n')];
    const { changes } = await update(dir, 'a.txt', ops);
    expect(text(dir, 'a.txt')).toBe('zero\n1\ntwo\nlines\n3\n4\n5\nnew\n6\n7\n8\n10\n');
    expect(changes).toEqual([
      { op: 4, from_line: 1, to_line: 3, content: 'zero\n1\ntwo' },
      { op: 1, from_line: 1, to_line: 6, content: 'zero\n1\ntwo\nlines\n3\n4' },
      { op: 3, from_line: 6, to_line: 10, content: '4\n5\nnew\n6\n7' },
      { op: 2, from_line: 10, to_line: 12, content: '7\n8\n10' },
    ]);
  });

  test('of one operation that are close are shown together, and only the first five', async () => {
    await using dir = await tempDir({ 'a.txt': `${ten}${'-\n'.repeat(9)}${ten}` });
    const result = await update(dir, 'a.txt', [replace('[2-4]', '_')]);
    expect(result.changes).toEqual([
      { op: 1, from_line: 1, to_line: 6, content: '1\n_\n_\n_\n5\n6' },
      { op: 1, from_line: 19, to_line: 24, content: '-\n1\n_\n_\n_\n5' },
    ]);
    expect(result.changes_truncated).toBe(true);
  });

  test('end after some kilobytes, and never inside a character', async () => {
    await using dir = await tempDir({ 'a.txt': `${'é'.repeat(1500)}\n`.repeat(20) });
    const ops = Array.from({ length: 20 }, (_, i) => insert(i + 1, 'x'));
    const { results } = await call(dir, { files: [{ path: 'a.txt', ops }] }, { max_write_bytes: 100_000 });
    const { changes = [], changes_truncated } = results[0]!;
    expect(changes_truncated).toBe(true);
    const shown = changes.map(({ content }) => content).join('');
    expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(8192);
    expect(shown).not.toContain('\uFFFD');
  });

  test('report an edit that leaves nothing', async () => {
    await using dir = await tempDir({ 'a.txt': 'a\n' });
    expect(await update(dir, 'a.txt', [remove(1, 1)])).toMatchObject({
      new_line_count: 0,
      changes: [{ op: 1, from_line: 1, to_line: 0, content: '' }],
    });
  });

  test('are left out where the text has the marks that find them', async () => {
    await using dir = await tempDir({ 'a.txt': 'a\uFDD0\n' });
    expect(await update(dir, 'a.txt', [replace('a', 'b')])).toMatchObject({ success: true, changes: [] });
    expect(text(dir, 'a.txt')).toBe('b\uFDD0\n');
  });
});
