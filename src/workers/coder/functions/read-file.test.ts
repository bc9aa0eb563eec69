import { createHash } from 'node:crypto';
import { utimesSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import { jailModes, run, tempDir } from '#testing';
import type { CoderConfig } from '../config.ts';
import { openCoder } from '../worker.ts';
import { readFile } from './read-file.ts';

const sha256 = (content: string | Uint8Array) => `sha256:${createHash('sha256').update(content).digest('hex')}`;

describe.each(jailModes())('%s jail', (_, way) => {
  const read = (base_path: string, path: string, config: object = {}) =>
    run(
      readFile,
      { path },
      { base_path, max_read_bytes: 4096, ...config },
      { open: (parsed, log) => openCoder(parsed as CoderConfig, log, undefined, way) },
    );

  test('coder.C01 a file comes with its text, size, mode, time and version', async () => {
    await using dir = await tempDir({ 'a.txt': { mode: 0o644, content: 'hello\n' } });
    utimesSync(dir.path('a.txt'), 0, 1_700_000_000.9);
    expect(await read(dir.root, 'a.txt')).toEqual({
      path: 'a.txt',
      content: 'hello\n',
      is_utf8: true,
      size: 6,
      mode: 420,
      mtime: 1_700_000_000,
      version: sha256('hello\n'),
    });
  });

  test('coder.C02 a missing file is C211', async () => {
    await using dir = await tempDir();
    await expect(read(dir.root, 'nope.txt')).rejects.toMatchObject({
      code: 'C211',
      message: 'nope.txt does not exist or is protected',
    });
  });

  test('coder.C04 the cap is inclusive; one over is refused, naming both numbers', async () => {
    await using dir = await tempDir({ fits: 'x'.repeat(4096), big: 'x'.repeat(5000) });
    expect(await read(dir.root, 'fits')).toMatchObject({ size: 4096 });
    await expect(read(dir.root, 'big')).rejects.toMatchObject({
      code: 'C213',
      message: 'big is 5000 bytes; the limit is 4096 (max_read_bytes); read a part with line_from and line_to',
    });
  });

  test('coder.P2 coder.C05 coder.C19 a protected file answers like a missing one', async () => {
    await using dir = await tempDir({
      '.env': 'TOKEN=1',
      'secrets/folder/': '',
      'pipe.pem': { fifo: true },
      alias: { symlink: '.env' },
    });
    const paths = ['m', '.env', 'secrets/folder', 'pipe.pem', 'alias'];
    const errors = await Promise.all(paths.map((path) => read(dir.root, path).catch((error: unknown) => error)));
    expect(errors).toMatchObject(
      paths.map((path) => ({ code: 'C211', message: `${path} does not exist or is protected` })),
    );
  });

  test('coder.C07 an absolute path is C210, also inside base_path', async () => {
    await using dir = await tempDir({ 'a.txt': '' });
    await expect(read(dir.root, dir.path('a.txt'))).rejects.toMatchObject({ code: 'C210' });
  });

  test.each([
    ['coder.C08', '../../etc/passwd'],
    ['coder.C11', 'dangling'],
    ['coder.C11', 'dangling/child'],
    ['coder.C17', 'no/such/../../../x'],
  ])('%s %s is C215', async (_, path) => {
    await using dir = await tempDir({ dangling: { symlink: 'missing' } });
    await expect(read(dir.root, path)).rejects.toMatchObject({
      code: 'C215',
      message: `${path} leaves base_path or goes through a dangling symlink; send a path below base_path`,
    });
  });

  test('coder.C10 coder.C16 links and .. are followed inside', async () => {
    await using dir = await tempDir({ 'real/a.txt': 'a', link: { symlink: 'real/a.txt' }, 'b.txt': 'b' });
    expect(await read(dir.root, 'link')).toMatchObject({ path: 'link', content: 'a' });
    expect(await read(dir.root, 'real/../b.txt')).toMatchObject({ path: 'real/../b.txt', content: 'b' });
  });

  test.each([
    ['a directory', 'folder'],
    ['base_path', '.'],
    ['a FIFO', 'pipe'],
  ])('%s is C210', async (_, path) => {
    await using dir = await tempDir({ 'folder/': '', pipe: { fifo: true } });
    await expect(read(dir.root, path)).rejects.toMatchObject({
      code: 'C210',
      message: `${path} is not a regular file`,
    });
  });

  test('names the file system cannot have are C216', async () => {
    await using dir = await tempDir();
    await expect(read(dir.root, 'a\0b')).rejects.toMatchObject({ code: 'C216' });
    await expect(read(dir.root, 'n'.repeat(300))).rejects.toMatchObject({ code: 'C216' });
  });
});

const read = (base_path: string, path: string) => run(readFile, { path }, { base_path });

test.each([
  ['coder.C13 a byte that is not UTF-8', [0x61, 0xff, 0x62], 'a\uFFFDb', false],
  ['coder.C14 a byte order mark', [0xef, 0xbb, 0xbf, 0x78], '\uFEFFx', true],
  ['characters of every length', [...Buffer.from('aé日😀')], 'aé日😀', true],
  ['a character cut short', [0xf0, 0x9f, 0x98, 0x61], '\uFFFDa', false],
  ['half a surrogate pair', [0xed, 0xa0, 0x80], '\uFFFD\uFFFD\uFFFD', false],
  ['nothing', [], '', true],
])('%s', async (_, bytes, content, is_utf8) => {
  await using dir = await tempDir({ file: Uint8Array.from(bytes) });
  const version = sha256(Uint8Array.from(bytes));
  expect(await read(dir.root, 'file')).toMatchObject({ content, is_utf8, size: bytes.length, version });
});

test('a file of several reads arrives whole', async () => {
  const content = Array.from({ length: 400_000 }, (_, i) => `line ${i}\n`).join('');
  await using dir = await tempDir({ big: content });
  expect(await read(dir.root, 'big')).toMatchObject({ content, version: sha256(content) });
});

test('coder.C106 unknown fields of the request are ignored', async () => {
  await using dir = await tempDir({ 'a.txt': 'a' });
  const payload = { path: 'a.txt', _caller_worker_id: 'w-1' };
  expect(await run(readFile, payload, { base_path: dir.root })).toMatchObject({ content: 'a' });
});

test('a malformed request is C210 and names the field', async () => {
  await using dir = await tempDir();
  await expect(run(readFile, {}, { base_path: dir.root })).rejects.toMatchObject({
    code: 'C210',
    message: 'missing field `path`',
  });
  await expect(run(readFile, { path: null }, { base_path: dir.root })).rejects.toMatchObject({ code: 'C210' });
});

test('a model gets an image as an image, and other callers its bytes as text', async () => {
  const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
  await using dir = await tempDir({
    'a.png': png,
    'not.png': 'text',
    'large.png': Buffer.concat([png, Buffer.alloc(4e6)]),
  });
  const config = { base_path: dir.root };
  const read = (path: string) => run(readFile, { path }, config, { door: 'model' });
  expect(await read('a.png')).toMatchObject({
    content: '',
    size: 16,
    image: { mime_type: 'image/png', base64: png.toString('base64') },
  });
  expect(await read('not.png')).toMatchObject({ content: 'text' });
  for (const reply of [await read('not.png'), await read('large.png'), await run(readFile, { path: 'a.png' }, config)])
    expect(reply).not.toHaveProperty('image');
});

test('a caller at a door gets the nearest path, and learns nothing of what is protected', async () => {
  await using dir = await tempDir({
    'a.env': '',
    'src/parser.ts': '',
    'secrets/token': '',
    alias: { symlink: 'secrets' },
  });
  const refusal = (path: string) =>
    run(readFile, { path }, { base_path: dir.root }, { door: 'model' }).catch((error: unknown) => error);
  expect(await refusal('src/parsr.ts')).toMatchObject({
    message: 'src/parsr.ts does not exist or is protected; did you mean src/parser.ts?',
  });
  const paths = ['.env', 'secrets/tokn', 'alias/parser.ts'];
  const missing = await Promise.all(paths.map(refusal));
  await using other = await tempDir({
    '.env': 'x',
    'a.env': '',
    'secrets/token': '',
    'secrets/tokn': '',
    'secrets/parser.ts': '',
    alias: { symlink: 'secrets' },
    'src/parser.ts': '',
  });
  const protectedOnes = await Promise.all(
    paths.map((path) =>
      run(readFile, { path }, { base_path: other.root }, { door: 'model' }).catch((error: unknown) => error),
    ),
  );
  expect(protectedOnes).toEqual(missing);
});
