import { statSync, symlinkSync, writeFileSync } from 'node:fs';

import { expect, test } from 'vitest';

import { run, tempDir, type TempDir } from '#testing';
import { ls } from './ls.ts';
import { stat } from './stat.ts';

const config = (dir: TempDir) => ({ fs: { host_root: dir.root, denylist_paths: [] } });
const mtimeOf = (dir: TempDir, name: string) => Math.floor(statSync(dir.path(name)).mtimeMs / 1000);

test('shell.F09 entries come sorted by the bytes of their names, hidden ones and links too, each for itself', async () => {
  await using dir = await tempDir({
    'b.txt': { content: 'hello', mode: 0o640 },
    'B.txt': '',
    '.hidden': '',
    'a/x': '',
    link: { symlink: 'b.txt' },
    dangling: { symlink: 'nothing' },
    é: '',
  });
  writeFileSync(Buffer.from(`${dir.root}/\xff`, 'latin1'), '');
  const first = await run(ls, { path: dir.root, _caller_worker_id: 'x' }, config(dir));
  expect(first).toEqual(await run(ls, { path: dir.root }, config(dir)));
  expect(first.entries.map(({ name }) => name)).toEqual([
    '.hidden',
    'B.txt',
    'a',
    'b.txt',
    'dangling',
    'link',
    'é',
    '\uFFFD',
  ]);
  expect(first.entries.find(({ name }) => name === 'b.txt')).toEqual({
    name: 'b.txt',
    is_dir: false,
    size: 5,
    mode: '0640',
    mtime: mtimeOf(dir, 'b.txt'),
    is_symlink: false,
  });
  expect(first.entries.filter((entry) => entry.is_symlink).map(({ name }) => name)).toEqual(['dangling', 'link']);
  expect(first.entries.filter((entry) => entry.is_dir).map(({ name }) => name)).toEqual(['a']);
});

test('shell.F08 a file is not a directory, and nothing is missing', async () => {
  await using dir = await tempDir({ f: '' });
  await expect(run(ls, { path: dir.path('f') }, config(dir))).rejects.toMatchObject({ code: 'S212' });
  await expect(run(ls, { path: dir.path('gone') }, config(dir))).rejects.toMatchObject({ code: 'S211' });
});

test('a link to a directory lists what is there; an empty one is empty', async () => {
  await using dir = await tempDir({ 'd/x': '', link: { symlink: 'd' }, 'empty/': '' });
  expect((await run(ls, { path: dir.path('link') }, config(dir))).entries).toMatchObject([{ name: 'x' }]);
  expect(await run(ls, { path: dir.path('empty') }, config(dir))).toEqual({ entries: [] });
});

test('shell.F11 stat reports a link itself', async () => {
  await using dir = await tempDir({ f: { content: 'text', mode: 0o755 }, link: { symlink: 'f' }, 'd/': '' });
  expect(await run(stat, { path: dir.path('link') }, config(dir))).toMatchObject({
    name: 'link',
    is_symlink: true,
    is_dir: false,
    size: 1,
  });
  expect(await run(stat, { path: dir.path('f') }, config(dir))).toEqual({
    name: 'f',
    is_dir: false,
    size: 4,
    mode: '0755',
    mtime: mtimeOf(dir, 'f'),
    is_symlink: false,
  });
  expect(await run(stat, { path: `${dir.path('d')}/../d/` }, config(dir))).toMatchObject({ name: 'd', is_dir: true });
});

test('stat of the root has its name, and of nothing fails', async () => {
  await using dir = await tempDir({});
  expect(await run(stat, { path: dir.root }, config(dir))).toMatchObject({ name: dir.root.split('/').at(-1) });
  expect(await run(stat, { path: '/' }, { fs: { host_root: null, allow_unjailed: true } })).toMatchObject({
    name: '/',
    is_dir: true,
  });
  await expect(run(stat, { path: dir.path('gone') }, config(dir))).rejects.toMatchObject({ code: 'S211' });
});

test('special bits and old times are reported', async () => {
  await using dir = await tempDir({ 'old/': '' });
  symlinkSync('x', dir.path('old/l'));
  expect(await run(stat, { path: '/tmp' }, { fs: { host_root: '/tmp' } })).toMatchObject({ mode: '1777' });
});
