import { closeSync, ftruncateSync, openSync, symlinkSync, writeSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import { versionOf } from '#host';
import { filesystemCases, tempDir, type TempDir } from '#testing';
import { openFilesystem } from '../worker.ts';
import { read } from './read.ts';

describe.each(['descriptor', 'portable'] as const)('%s jail', (mode) => {
  const call = filesystemCases(openFilesystem, mode);
  const reading = (dir: TempDir, payload: object, config = {}) => call(read, dir, payload, config);

  test('filesystem.D01 numbers every line and reports what it read', async () => {
    await using dir = await tempDir({ 'ws/main.py': 'import os\nimport sys\n' });
    const expected = {
      success: true,
      data: {
        path: dir.path('ws/main.py'),
        content: '     1│import os\n     2│import sys\n',
        total_lines: 2,
        start_line: 1,
        end_line: 2,
        size_bytes: 21,
        version: versionOf(Buffer.from('import os\nimport sys\n')),
      },
    };
    expect(await reading(dir, { path: dir.path('ws/main.py') })).toEqual(expected);
    expect(await reading(dir, { path: 'main.py' })).toEqual(expected);
  });

  test('filesystem.D02 shows the lines asked for', async () => {
    const text = Array.from({ length: 42 }, (_, i) => `l${i + 1}\n`).join('');
    await using dir = await tempDir({ 'ws/f': text });
    expect(await reading(dir, { path: 'f', start_line: 10, end_line: 12 })).toMatchObject({
      data: { content: '    10│l10\n    11│l11\n    12│l12\n', start_line: 10, end_line: 12, total_lines: 42 },
    });
    expect(await reading(dir, { path: 'f', start_line: 42, end_line: 99 })).toMatchObject({
      data: { content: '    42│l42\n', end_line: 42 },
    });
  });

  test.each([
    ['filesystem.D04 a path that climbs out', 'ws/../etc/passwd', 'etc/passwd'],
    ['filesystem.D05 a sibling whose name begins the same', 'ws2/f', 'ws2/f'],
    ['a link to the outside', 'ws/out/f', 'ws2/f'],
    ['a link out, and on to what is not there', 'ws/out/no/such', 'ws2/no/such'],
    ['the folder above', 'ws/..', ''],
    ['what is nowhere', 'none/x', 'none/x'],
  ])('%s is refused with its target', async (_, asked, reported) => {
    await using dir = await tempDir({ 'ws/f': '', 'ws2/f': 'SECRET', 'ws/out': { symlink: '../ws2' } });
    const path = `${dir.root}/${asked}`;
    expect(await reading(dir, { path })).toEqual({
      success: false,
      error: `Path '${dir.path(reported).replace(/\/$/, '')}' is outside allowed paths`,
      metadata: { code: 'F215' },
    });
  });

  test('filesystem.D07 a file over max_file_size is refused, one that has it exactly is not', async () => {
    await using dir = await tempDir({ 'ws/big': 'x'.repeat(2048), 'ws/fits': 'x'.repeat(1024) });
    expect(await reading(dir, { path: 'big' }, { max_file_size: '1KB' })).toEqual({
      success: false,
      error: `${dir.path('ws/big')} is 2048 bytes; max_file_size is 1024, which the operator can raise`,
      metadata: { code: 'F213' },
    });
    expect(await reading(dir, { path: 'fits' }, { max_file_size: '1KB' })).toMatchObject({ success: true });
  });

  test('filesystem.D08 without a fence any path is read', async () => {
    await using dir = await tempDir({ 'ws/f': '', 'other/f': 'out here\n' });
    expect(await reading(dir, { path: dir.path('other/f') }, { paths: null })).toMatchObject({
      data: { content: '     1│out here\n' },
    });
  });

  test.each([
    ['filesystem.D34 nothing at all', undefined, 'missing field `path`', 'F210'],
    ['filesystem.D34 a path that is a number', { path: 7 }, '`path` must be a string (got a number)', 'F210'],
    [
      'filesystem.D34 no such line to begin at',
      { path: 'f', start_line: 0 },
      '`start_line` must be at least 1 (got 0)',
      'F210',
    ],
    [
      'an unknown encoding',
      { path: 'f', encoding: 'cp9999' },
      '`encoding`: no encoding "cp9999"; there is utf-8, ascii, latin-1, utf-16le, utf-16, cp1252, shift_jis, gb18030 and more',
      'F210',
    ],
    ['a file that is missing', { path: 'no' }, '$/no does not exist (ENOENT)', 'F211'],
    ['a directory', { path: '.' }, '$ is not a regular file', 'F212'],
    ['a FIFO', { path: 'pipe' }, '$/pipe is not a regular file', 'F212'],
    ['a dangling link', { path: 'dangling' }, '$/dangling goes through a dangling symlink', 'F211'],
    ['below a file', { path: 'f/x' }, '$/f/x has a file as a parent directory (ENOTDIR)', 'F212'],
    ['a NUL in the name', { path: 'a\0b' }, '"a\\u0000b" is not a name that the file system accepts', 'F210'],
    ['lines beyond the end', { path: 'f', start_line: 4 }, 'no line 4: $/f has 3 lines', 'F222'],
    [
      'lines that end before they begin',
      { path: 'f', start_line: 3, end_line: 2 },
      'start_line 3 is after end_line 2: $/f has 3 lines',
      'F222',
    ],
    ['data', { path: 'data' }, '$/data is not utf-8 text; if it is text, send its `encoding`', 'F218'],
    [
      'text in another encoding',
      { path: 'umlaut', encoding: 'ascii' },
      '$/umlaut is not ascii text; if it is text, send its `encoding`',
      'F218',
    ],
    [
      'half a character at the end',
      { path: 'odd', encoding: 'utf-16' },
      '$/odd is not utf16 text; if it is text, send its `encoding`',
      'F218',
    ],
    [
      'bytes that are not a character',
      { path: 'half', encoding: 'euc-jp' },
      '$/half is not eucjp text; if it is text, send its `encoding`',
      'F218',
    ],
    [
      'half a character',
      { path: 'odd', encoding: 'utf-16le' },
      '$/odd is not utf-16le text; if it is text, send its `encoding`',
      'F218',
    ],
  ])('filesystem.P1 %s is a reply like any other', async (_, payload, error, code) => {
    await using dir = await tempDir({
      'ws/f': 'a\nb\nc',
      'ws/pipe': { fifo: true },
      'ws/dangling': { symlink: 'nothing' },
      'ws/data': Uint8Array.of(1, 0, 255),
      'ws/umlaut': 'ü',
      'ws/half': Buffer.from([0x61, 0xff, 0x61]),
      'ws/odd': 'abc',
    });
    const reply = await reading(dir, payload as object);
    expect(reply).toEqual({
      success: false,
      error: error.replace('$', dir.path('ws')),
      metadata: expect.objectContaining({ code }),
    });
    if (code === 'F222') expect(reply.metadata).toEqual({ code, total_lines: 3 });
  });
});

const reading = (dir: TempDir, payload: object, config = {}) =>
  filesystemCases(openFilesystem, 'descriptor')(read, dir, payload, config);

test.each([
  ['utf-8', Buffer.from('ä\nb'), '     1│ä\n     2│b'],
  ['UTF_8', Buffer.from('\uFEFFä'), '     1│\uFEFFä'],
  ['latin-1', Buffer.from('ä\nb\n', 'latin1'), '     1│ä\n     2│b\n'],
  ['iso-8859-1', Buffer.from('ÿ', 'latin1'), '     1│ÿ'],
  ['ascii', Buffer.from('a'), '     1│a'],
  // A byte of the first character looks like a newline.
  ['utf-16le', Buffer.from('\u0a61\nb\n', 'utf16le'), '     1│\u0a61\n     2│b\n'],
  ['utf-16', Buffer.from('\uFEFF\u0a61\nb', 'utf16le'), '     1│\u0a61\n     2│b'],
  ['utf-16', Buffer.from('\uFEFFa\nb', 'utf16le').swap16(), '     1│a\n     2│b'],
  ['UTF-16-BE', Buffer.from('a\nb', 'utf16le').swap16(), '     1│a\n     2│b'],
  ['cp1252', Buffer.from([0x80, 0x0a, 0x93]), '     1│€\n     2│“'],
  ['windows-1251', Buffer.from([0xcf, 0xf0]), '     1│Пр'],
  ['shift_jis', Buffer.from([0x93, 0xfa, 0x0a, 0x61]), '     1│日\n     2│a'],
  ['utf-8-sig', Buffer.from('\uFEFFä'), '     1│ä'],
])('reads %s', async (encoding, bytes, content) => {
  await using dir = await tempDir({ 'ws/f': bytes });
  expect(await reading(dir, { path: 'f', encoding })).toMatchObject({ data: { content, size_bytes: bytes.length } });
});

test.each([
  ['nothing', '', '', 0],
  ['a line that is not ended', 'a', '     1│a', 1],
  ['empty lines', '\n\n', '     1│\n     2│\n', 2],
  ['lines that end as on Windows', 'a\r\nb\r\n', '     1│a\r\n     2│b\r\n', 2],
])('shows %s as it is', async (_, text, content, lines) => {
  await using dir = await tempDir({ 'ws/f': text });
  expect(await reading(dir, { path: 'f' })).toMatchObject({
    data: { content, total_lines: lines, start_line: 1, end_line: lines },
  });
});

test('numbers of seven digits push the lines to the right', async () => {
  await using dir = await tempDir({ 'ws/f': '\n'.repeat(1_000_000) });
  expect(await reading(dir, { path: 'f', start_line: 999_999 })).toMatchObject({
    data: { content: ' 999999│\n1000000│\n', total_lines: 1_000_000 },
  });
});

test('a reply has a size limit, and says where to continue', async () => {
  const line = `${'x'.repeat(99)}\n`;
  await using dir = await tempDir({ 'ws/many': line.repeat(100_000), 'ws/long': `${'ä'.repeat(5_000_000)}\nend\n` });
  const many = await reading(dir, { path: 'many' });
  expect(many).toMatchObject({ data: { end_line: 83_886, total_lines: 100_000, truncated: true } });
  expect(many.data).not.toHaveProperty('last_line_cut');

  const long = await reading(dir, { path: 'long' });
  expect(long).toMatchObject({ data: { end_line: 1, truncated: true, last_line_cut: true, total_lines: 2 } });
  expect(long.data!.content === `     1│${'ä'.repeat(4 * 2 ** 20)}`).toBe(true);
});

test('filesystem.P5 a window of a file of many gigabytes costs what comes before it', async () => {
  await using dir = await tempDir({ 'ws/': '' });
  const fd = openSync(dir.path('ws/huge'), 'w');
  writeSync(fd, 'first\nsecond\nthird\n');
  ftruncateSync(fd, 64 * 2 ** 30);
  closeSync(fd);

  const reply = await reading(dir, { path: 'huge', start_line: 2, end_line: 3 }, { max_file_size: '100GB' });
  expect(reply.data).toEqual({
    path: dir.path('ws/huge'),
    content: '     2│second\n     3│third\n',
    start_line: 2,
    end_line: 3,
    size_bytes: 64 * 2 ** 30,
  });
});

test('links inside are followed, and the answer says where they lead', async () => {
  await using dir = await tempDir({ 'ws/real/f': 'x' });
  symlinkSync('real/f', dir.path('ws/link'));
  expect(await reading(dir, { path: 'link' })).toMatchObject({ data: { path: dir.path('ws/real/f') } });
});

test('several allowed paths are all reached, and relative paths start at the first', async () => {
  await using dir = await tempDir({ 'one/f': '1', 'two/f': '2' });
  const config = { paths: [dir.path('one'), dir.path('two')] };
  expect(await reading(dir, { path: 'f' }, config)).toMatchObject({ data: { content: '     1│1' } });
  expect(await reading(dir, { path: dir.path('two/f') }, config)).toMatchObject({ data: { content: '     1│2' } });
});
