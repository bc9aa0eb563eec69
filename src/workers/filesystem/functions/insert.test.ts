import { readFileSync } from 'node:fs';

import { expect, test } from 'vitest';

import { versionOf } from '#host';
import { filesystemCases, tempDir, type TempDir } from '#testing';
import { openFilesystem } from '../worker.ts';
import { insert } from './insert.ts';

const inserting = (dir: TempDir, payload: object, config = {}) =>
  filesystemCases(openFilesystem, 'descriptor')(insert, dir, { path: 'f', ...payload }, config);

test('lines go before a line, and those around them are shown', async () => {
  await using dir = await tempDir({ 'ws/f': 'a\nb\nc\nd\n' });
  const after = 'a\nb\nx\ny\nc\nd\n';
  expect(await inserting(dir, { line: 3, content: 'x\ny' })).toEqual({
    success: true,
    data: {
      path: dir.path('ws/f'),
      line: 3,
      lines_inserted: 2,
      total_lines: 6,
      preview: '     1│a\n     2│b\n     3│x\n     4│y\n     5│c\n     6│d\n',
      version: versionOf(Buffer.from(after)),
    },
  });
  expect(readFileSync(dir.path('ws/f'), 'utf8')).toBe(after);
});

test.each([
  ['into nothing', '', 1, 'x', 'x\n'],
  ['before the first line', 'a\n', 1, 'x\n', 'x\na\n'],
  ['after the last line', 'a\n', 2, 'x', 'a\nx\n'],
  ['after a last line that is not ended', 'a', 2, 'x', 'a\nx\n'],
  ['before a last line that is not ended', 'a\nb', 2, 'x', 'a\nx\nb'],
  ['an empty line', 'a\nb\n', 2, '', 'a\n\nb\n'],
  ['lines into a file with CRLF', 'a\r\nb\r\n', 2, 'x\ny', 'a\r\nx\r\ny\r\nb\r\n'],
  ['after the last line of a file with CRLF', 'a\r\nb', 3, 'x', 'a\r\nb\r\nx\r\n'],
])('%s', async (_, before, line, content, after) => {
  await using dir = await tempDir({ 'ws/f': before });
  expect(await inserting(dir, { line, content })).toMatchObject({ success: true });
  expect(readFileSync(dir.path('ws/f'), 'utf8')).toBe(after);
});

test.each([
  [
    'a line beyond the end',
    { line: 4, content: 'x' },
    'no line 4: $/f has 2 lines, so line may be 1 to 3',
    { code: 'F222', total_lines: 2 },
  ],
  ['line 0', { line: 0, content: 'x' }, '`line` must be at least 1 (got 0)', { code: 'F210' }],
  [
    'what would be too large',
    { line: 1, content: 'x'.repeat(20) },
    '$/f is 25 bytes; max_file_size is 20, which the operator can raise',
    { code: 'F213' },
  ],
  ['a file that is missing', { path: 'no', line: 1, content: 'x' }, '$/no does not exist', { code: 'F211' }],
  [
    'data',
    { path: 'data', line: 1, content: 'x' },
    '$/data is not utf-8 text; write the whole file instead, in its `encoding`',
    { code: 'F218' },
  ],
])('%s is refused and nothing changes', async (_, payload, error, metadata) => {
  await using dir = await tempDir({ 'ws/f': 'a\nb\n', 'ws/data': Uint8Array.of(255) });
  expect(await inserting(dir, payload, { max_file_size: 20 })).toEqual({
    success: false,
    error: error.replace('$', dir.path('ws')),
    metadata,
  });
  expect(readFileSync(dir.path('ws/f'), 'utf8')).toBe('a\nb\n');
});
