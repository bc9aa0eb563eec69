/**
 * Archives made to break out of the directory they are unpacked into, or to fill the disk.
 *
 * Each is imported as an image would be. Afterwards everything outside is as it was, byte for byte, and what is left in the
 * cache is only what the archive was allowed to put there.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

import { expect, test } from 'vitest';

import { rounds, tarArchive, tempDir, type TempDir, type TestEntry } from '#testing';
import {
  applyLayer,
  ARCHIVE_LIMITS,
  ArchiveBudget,
  ArchiveError,
  TreeWriter,
  type ArchiveLimits,
} from '../../../src/sandbox/archives/index.ts';
import { Images } from '../../../src/sandbox/images/index.ts';

const RANDOM_ARCHIVES = rounds(100, 500, 20_000);

interface Attack {
  what: string;
  layers: TestEntry[][];
  /** The error that refuses it; absent when it is unpacked and harmless. */
  refused?: RegExp;
}

const OUT = '../'.repeat(12);
const file = (name: string): TestEntry => ({ name, content: 'EVIL' });
const link = (name: string, linkName: string): TestEntry => ({ name, flag: '2', linkName });
const hardLink = (name: string, linkName: string): TestEntry => ({ name, flag: '1', linkName });

/** `SECRET` and `OUTSIDE` stand for the paths of a file and a directory outside. */
const ATTACKS: Attack[] = [
  { what: 'dots', layers: [[file('../evil')]], refused: /leaves the archive/ },
  { what: 'dots further down', layers: [[file('a/../../evil')]], refused: /leaves the archive/ },
  { what: 'dots at the end', layers: [[{ name: 'a/..', flag: '5' }]], refused: /leaves the archive/ },
  {
    what: 'dots in a pax name',
    layers: [[{ ...file('a'), pax: { path: `${OUT}evil` } }]],
    refused: /leaves the archive/,
  },
  {
    what: 'dots in a long GNU name',
    layers: [[{ name: 'L', flag: 'L', content: '../evil\0' }, file('a')]],
    refused: /leaves the archive/,
  },
  { what: 'an absolute name', layers: [[file('OUTSIDE/evil')]], refused: /absolute path/ },
  { what: 'an absolute name with a blank start', layers: [[file('//OUTSIDE/evil')]], refused: /absolute path/ },
  { what: 'a zero byte in a name', layers: [[{ ...file('a'), pax: { path: 'a\0b' } }]], refused: /zero byte/ },
  { what: 'an absolute link, then a file through it', layers: [[link('a', 'OUTSIDE'), file('a/evil')]] },
  { what: 'a link with dots, then a file through it', layers: [[link('a', `${OUT}OUTSIDE`), file('a/evil')]] },
  { what: 'links through links', layers: [[link('a', '..'), link('b', 'a/../OUTSIDE'), file('b/evil')]] },
  { what: 'a link in a layer below', layers: [[link('a', 'OUTSIDE')], [file('a/evil')]] },
  { what: 'a link to the secret, then a file of its name', layers: [[link('a', 'SECRET'), file('a')]] },
  { what: 'a link in a layer below, then a file of its name', layers: [[link('a', 'SECRET')], [file('a')]] },
  {
    what: 'a link, then a directory of its name and a file in it',
    layers: [[link('a', 'OUTSIDE'), { name: 'a/', flag: '5' }, file('a/evil')]],
  },
  {
    what: 'a directory that becomes a link',
    layers: [[{ name: 'a/', flag: '5' }, file('a/x'), link('a', 'OUTSIDE'), file('a/evil')]],
  },
  {
    what: 'a circle of links',
    layers: [[link('a', 'b'), link('b', 'a'), file('a/evil')]],
    refused: /loop of symlinks/,
  },
  {
    what: 'a hard link with an absolute target',
    layers: [[hardLink('a', 'SECRET'), file('a')]],
    refused: /absolute path/,
  },
  { what: 'a hard link with dots', layers: [[hardLink('a', `${OUT}SECRET`)]], refused: /leaves the archive/ },
  {
    what: 'a hard link through a link',
    layers: [[link('a', '/'), hardLink('b', 'aSECRET'), file('b')]],
    refused: /is not a file/,
  },
  {
    what: 'a hard link to a link to the secret, then written',
    layers: [[link('a', 'SECRET'), hardLink('b', 'a'), file('b')]],
  },
  { what: 'a mark that hides through a link', layers: [[link('a', 'OUTSIDE')], [file('a/.wh.secret')]] },
  { what: 'a mark that hides all through a link', layers: [[link('a', 'OUTSIDE')], [file('a/.wh..wh..opq')]] },
  { what: 'a mark that hides ..', layers: [[file('a/.wh...')]], refused: /is a whiteout without a valid name/ },
  { what: 'a mark that hides .', layers: [[file('a/.wh..')]], refused: /is a whiteout without a valid name/ },
  {
    what: 'device nodes and a FIFO',
    layers: [
      [
        { name: 'a', flag: '3' },
        { name: 'b', flag: '4' },
        { name: 'c', flag: '6' },
      ],
    ],
  },
  { what: 'the same name three times', layers: [[file('a'), link('a', 'SECRET'), file('a')]] },
  {
    what: 'an owner out of range',
    layers: [[{ ...file('a'), pax: { uid: '99999999999' } }]],
    refused: /is not a valid owner/,
  },
  { what: 'an unknown type', layers: [[{ ...file('a'), flag: 'S' }]], refused: /tar type "S"/ },
  {
    what: 'a path 200 names deep',
    layers: [[{ ...file('x'), pax: { path: `${'d/'.repeat(200)}f` } }]],
    refused: /201 names deep/,
  },
  {
    what: 'a name of 5000 bytes',
    layers: [[{ ...file('x'), pax: { path: 'n'.repeat(5000) } }]],
    refused: /ENAMETOOLONG/,
  },
];

function spell(text: string, dir: TempDir): string {
  return text.replace('SECRET', dir.path('outside/secret')).replace('OUTSIDE', dir.path('outside'));
}

function placed(entry: TestEntry, dir: TempDir): TestEntry {
  return { ...entry, name: spell(entry.name, dir), linkName: spell(entry.linkName ?? '', dir) };
}

/** A docker archive with these layers, truthfully described. */
function archiveOf(tars: readonly Buffer[], pack: (tar: Buffer) => Buffer = (tar) => tar): Buffer {
  const digest = (tar: Buffer) => `sha256:${createHash('sha256').update(tar).digest('hex')}`;
  const layers = tars.map((tar, at) => ({ name: `${at}.tar`, content: pack(tar) }));
  const manifest = [{ Config: 'config.json', Layers: layers.map(({ name }) => name) }];
  return tarArchive([
    ...layers,
    { name: 'config.json', content: JSON.stringify({ rootfs: { diff_ids: tars.map(digest) } }) },
    { name: 'manifest.json', content: JSON.stringify(manifest) },
  ]);
}

async function* pieces(tar: Buffer) {
  yield tar;
}

async function importing(dir: TempDir, archive: Buffer, limits: ArchiveLimits = ARCHIVE_LIMITS) {
  writeFileSync(dir.path('archive.tar'), archive);
  const images = new Images({
    cacheDir: dir.path('cache'),
    customImages: {},
    allowlist: [],
    autoInstall: false,
    limits,
  });
  return images.import(dir.path('archive.tar'), 'localhost/evil', { signal: AbortSignal.timeout(30_000) });
}

/** Names, kinds, modes, sizes, times and contents of all that is not the cache. */
function outside(dir: TempDir): string {
  const find = ['outside', '-printf', '%p %y %m %s %T@ %C@ %n\n'];
  return execFileSync('find', find, { cwd: dir.root }).toString() + readFileSync(dir.path('outside/secret'), 'utf8');
}

/** Anything in the cache that is not a file, directory or symlink, or is not ours alone. */
function oddities(dir: TempDir): string {
  const kinds = ['(', '-not', '-type', 'f', '-not', '-type', 'd', '-not', '-type', 'l', ')'];
  return execFileSync('find', ['cache', ...kinds, '-o', '-perm', '/6000'], { cwd: dir.root }).toString();
}

let touched = 0;

test.each(ATTACKS)('$what', async ({ layers, refused }) => {
  await using dir = await tempDir({ 'outside/secret': 'SECRET', 'outside/sub/deep': 'SECRET' });
  const before = outside(dir);
  const tars = layers.map((layer) => tarArchive(layer.map((entry) => placed(entry, dir))));
  const attempt = importing(dir, archiveOf(tars));
  if (refused) await expect(attempt).rejects.toMatchObject({ message: expect.stringMatching(refused) });
  else expect(existsSync((await attempt).rootDir)).toBe(true);

  const isTouched = outside(dir) !== before || oddities(dir) !== '';
  if (isTouched) touched++;
  expect(isTouched).toBe(false);
  // A refused archive leaves nothing behind.
  if (refused) expect(execFileSync('find', ['cache', '-name', 'tree'], { cwd: dir.root }).toString()).toBe('');
});

test('sandbox.P2 nothing outside was touched', () => {
  console.log(`${ATTACKS.length} hostile archives, ${touched} touched anything outside`);
  expect(touched).toBe(0);
});

const MIB = 2 ** 20;
const LIMITS: ArchiveLimits = { totalBytes: 8 * MIB, fileBytes: 4 * MIB, entries: 1000, depth: 16 };

/** Size of the cache on disk, in bytes. */
function cacheBytes(dir: TempDir): number {
  return Number(execFileSync('du', ['-s', '-B1', 'cache'], { cwd: dir.root }).toString().split('\t')[0]);
}

test('a file that declares 10 GB is refused before a byte of it is written', async () => {
  await using dir = await tempDir();
  const tar = tarArchive([{ name: 'sparse', size: 10 * 2 ** 30 }]);
  await expect(importing(dir, archiveOf([tar]))).rejects.toThrow(
    /sparse is 10737418240 bytes; the limit is 5368709120/,
  );
  const declared = tarArchive([{ name: 'sparse', pax: { size: String(10 * 2 ** 30) } }]);
  await expect(importing(dir, archiveOf([declared]))).rejects.toThrow(/the limit is 5368709120/);
  expect(cacheBytes(dir)).toBeLessThan(MIB);
});

const zeros = Buffer.alloc(64 * MIB);

test.each([
  ['one large file', tarArchive([{ name: 'zeros', content: zeros }]), /the limit is 4194304/],
  [
    'many files',
    tarArchive(Array.from({ length: 40 }, (_, at) => ({ name: `zeros-${at}`, content: zeros.subarray(0, 2 * MIB) }))),
    /the limit is 8388608/,
  ],
  ['zeros behind the end of the archive', Buffer.concat([tarArchive([]), zeros]), /the limit is 8388608/],
  [
    'a hundred thousand names',
    tarArchive(Array.from({ length: 1001 }, (_, at) => ({ name: `n${at}` }))),
    /more than 1000 entries/,
  ],
])('sandbox.P2 a gzip bomb of %s stops at the limit', async (_, tar, message) => {
  await using dir = await tempDir();
  const archive = archiveOf([tar], gzipSync);
  expect(archive.length).toBeLessThan(MIB);
  await expect(importing(dir, archive, LIMITS)).rejects.toThrow(message);
  expect(cacheBytes(dir)).toBeLessThan(MIB);
});

/** Each archive is a handful of entries whose names are harmless by themselves, and links that make them hostile. */
function randomLayers(random: (below: number) => number): TestEntry[][] {
  const oneOf = <T>(list: readonly [T, ...T[]]): T => list[random(list.length)] ?? list[0];
  const name = () => oneOf(['a', 'a', 'b', 'b', 'c', 'secret', 'sub', '.wh.a', '.wh.b', '.wh.secret', '.wh..wh..opq']);
  const path = () => Array.from({ length: 1 + random(4) }, name).join('/');
  const target = () =>
    oneOf(['OUTSIDE', 'OUTSIDE/sub', 'SECRET', '..', '../..', `${OUT}OUTSIDE`, '/', '.', path(), `/${path()}`]);
  const entry = () => {
    const flag = oneOf(['0', '0', '0', '0', '1', '2', '2', '2', '5', '5', '6']);
    return { name: path(), flag, linkName: flag === '1' ? path() : target(), content: flag === '0' ? 'EVIL' : '' };
  };
  return Array.from({ length: 1 + random(3) }, () => Array.from({ length: 1 + random(6) }, entry));
}

/** The same archives for the same seed, so that a failure can be reproduced. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

test(`${RANDOM_ARCHIVES} random archives leave what is outside alone`, { timeout: 300_000 }, async () => {
  await using dir = await tempDir({ 'outside/secret': 'SECRET', 'outside/sub/deep': 'SECRET' });
  const before = outside(dir);
  const counts = { unpacked: 0, refused: 0 };
  for (let seed = 1; seed <= RANDOM_ARCHIVES; seed++) {
    const root = dir.path(`roots/${seed}`);
    mkdirSync(root, { recursive: true });
    const tree = new TreeWriter(root);
    const budget = new ArchiveBudget(ARCHIVE_LIMITS);
    try {
      for (const layer of randomLayers(randomFrom(seed))) {
        await applyLayer(tree, pieces(tarArchive(layer.map((entry) => placed(entry, dir)))), budget);
      }
      tree.finish();
      counts.unpacked++;
    } catch (error) {
      if (!(error instanceof ArchiveError)) throw new Error(`seed ${seed} broke the code`, { cause: error });
      counts.refused++;
    }
    if (seed % 100 === 0) expect([seed, outside(dir)]).toEqual([seed, before]);
  }
  console.log(`random archives:`, counts);
  expect(outside(dir)).toBe(before);
  expect(counts.unpacked).toBeGreaterThan(RANDOM_ARCHIVES / 5);
});
