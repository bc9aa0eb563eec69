import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';

import { expect, test } from 'vitest';

import { tarArchive, tempDir, type TempDir, type TestEntry } from '#testing';
import { ARCHIVE_LIMITS, type ArchiveLimits } from './archive-limits.ts';
import { ArchiveBudget, applyLayer } from './apply-layer.ts';
import { TreeWriter } from './tree-writer.ts';

const isRoot = process.getuid?.() === 0;

async function* pieces(tar: Buffer) {
  yield tar;
}

/** Applies the layers in a directory of their own and returns how much of their limits they used. */
async function apply(dir: TempDir, layers: TestEntry[][], limits: Partial<ArchiveLimits> = {}) {
  mkdirSync(dir.path('root'), { recursive: true });
  const tree = new TreeWriter(dir.path('root'));
  const budget = new ArchiveBudget({ ...ARCHIVE_LIMITS, ...limits });
  for (const layer of layers) await applyLayer(tree, pieces(tarArchive(layer)), budget);
  tree.finish();
  return budget;
}

/** Every path in the tree, files with their content. */
function listing(dir: TempDir): string[] {
  const found = execFileSync('find', ['root', '-mindepth', '1', '-printf', '%P%y%l\n'], { cwd: dir.root }).toString();
  return found.split('\n').filter(Boolean).toSorted();
}

test('keeps modes, owners, times and links, and strips setuid', async () => {
  await using dir = await tempDir();
  const facts = { uid: 12, gid: 34, mtimeSecs: 1_234_567_890 };
  await apply(dir, [
    [
      { name: './closed/', flag: '5', mode: 0o555, ...facts },
      { name: './closed/su', mode: 0o4755, content: 'x', ...facts },
      { name: './closed/same', flag: '1', linkName: './closed/su', ...facts },
      { name: './tmp/', flag: '5', mode: 0o1777, ...facts },
      { name: './to', flag: '2', linkName: '/outside/not/there', ...facts },
      { name: './also-to', flag: '1', linkName: 'to', ...facts },
    ],
  ]);

  const stat = (name: string) => statSync(dir.path(`root/${name}`));
  const owner = isRoot ? [12, 34] : [process.getuid?.(), process.getgid?.()];
  expect(
    ['closed', 'closed/su', 'closed/same', 'tmp'].map((name) => [
      (stat(name).mode & 0o7777).toString(8),
      stat(name).uid,
      stat(name).gid,
      stat(name).mtimeMs / 1000,
    ]),
  ).toEqual([
    [isRoot ? '555' : '755', ...owner, 1_234_567_890],
    ['755', ...owner, 1_234_567_890],
    ['755', ...owner, 1_234_567_890],
    ['1777', ...owner, 1_234_567_890],
  ]);
  expect(stat('closed/su').ino).toBe(stat('closed/same').ino);
  const links = ['to', 'also-to'].map((name) => readlinkSync(dir.path(`root/${name}`)));
  expect(links).toEqual(['/outside/not/there', '/outside/not/there']);
});

test('gives directories that no layer describes, the root among them, the usual mode', async () => {
  await using dir = await tempDir();
  mkdirSync(dir.path('root'), { mode: 0o700 });
  await apply(dir, [[{ name: 'a/b/file', content: 'x' }]]);
  const modes = ['', 'a', 'a/b'].map((name) => (statSync(dir.path(`root/${name}`)).mode & 0o7777).toString(8));
  expect(modes).toEqual(['755', '755', '755']);
});

test('hides one name, and all names in a directory, of the layers below only', async () => {
  await using dir = await tempDir();
  await apply(dir, [
    [
      { name: 'a/gone', content: '1' },
      { name: 'a/stays', content: '1' },
      { name: 'b/old/deep', content: '1' },
      { name: 'b/both/old', content: '1' },
      { name: 'b/replaced', content: '1' },
    ],
    [
      { name: 'a/.wh.gone' },
      { name: 'a/.wh.never-was' },
      { name: 'b/both/new', content: '2' },
      { name: 'b/replaced', content: '2' },
      // The mark comes after entries of its own layer, which it does not hide.
      { name: 'b/.wh..wh..opq' },
      { name: 'c/.wh.own' },
      { name: 'c/own', content: '2' },
      { name: 'c/.wh.own' },
      { name: '.wh..wh.plnk/', flag: '5' },
    ],
  ]);
  expect(listing(dir)).toEqual(
    ['ad', 'a/staysf', 'bd', 'b/bothd', 'b/both/newf', 'b/replacedf', 'cd', 'c/ownf'].toSorted(),
  );
  expect(readFileSync(dir.path('root/b/replaced'), 'utf8')).toBe('2');
});

test('replaces a file by a directory, a directory by a file, and a link by either', async () => {
  await using dir = await tempDir();
  await apply(dir, [
    [
      { name: 'file', content: 'x' },
      { name: 'dir/inner/deep', content: 'x' },
      { name: 'link', flag: '2', linkName: 'dir' },
      { name: 'twice', content: 'first' },
      { name: 'twice', content: 'second' },
    ],
    [
      { name: 'file/', flag: '5' },
      { name: 'file/in', content: 'y' },
      { name: 'dir', content: 'y' },
      { name: 'link/', flag: '5' },
    ],
  ]);
  expect(listing(dir)).toEqual(['dirf', 'filed', 'file/inf', 'linkd', 'twicef'].toSorted());
  expect(readFileSync(dir.path('root/twice'), 'utf8')).toBe('second');
});

test('follows a link among the parents inside the image, as a program in it would', async () => {
  await using dir = await tempDir();
  await apply(dir, [
    [
      { name: 'usr/lib/', flag: '5' },
      { name: 'lib', flag: '2', linkName: 'usr/lib' },
      { name: 'absolute', flag: '2', linkName: '/usr/lib' },
    ],
    [{ name: 'lib/one', content: '1' }, { name: 'absolute/two', content: '2' }, { name: 'lib/.wh.three' }],
  ]);
  expect(listing(dir)).toEqual(
    ['absolutel/usr/lib', 'libl' + 'usr/lib', 'usrd', 'usr/libd', 'usr/lib/onef', 'usr/lib/twof'].toSorted(),
  );
});

test('counts device nodes and FIFOs and makes none', async () => {
  await using dir = await tempDir();
  const budget = await apply(dir, [
    [
      { name: 'dev/null', flag: '3' },
      { name: 'dev/sda', flag: '4' },
      { name: 'pipe', flag: '6' },
      { name: 'file', content: 'x' },
    ],
  ]);
  expect([budget.skipped, budget.entries, listing(dir)]).toEqual([3, 4, ['devd', 'filef']]);
});

test.each<[string, TestEntry[], Partial<ArchiveLimits>, RegExp]>([
  [
    'a large file by what it declares',
    [{ name: 'big', size: 101 }],
    { fileBytes: 100 },
    /^big is 101 bytes; the limit is 100$/,
  ],
  ['too much in all', [{ name: 'a', content: 'x'.repeat(2000) }], { totalBytes: 2000 }, /the limit is 2000$/],
  ['too many entries', [{ name: 'a' }, { name: 'b' }, { name: 'c' }], { entries: 2 }, /more than 2 entries/],
  ['a file as the root', [{ name: './' }], {}, /^"\.\/" names the root of the image, but is a file/],
  ['a deep path', [{ name: 'a/b/c/d' }], { depth: 3 }, /4 names deep; the limit is 3/],
])('refuses %s', async (_, entries, limits, message) => {
  await using dir = await tempDir();
  await expect(apply(dir, [entries], limits)).rejects.toThrow(message);
});
