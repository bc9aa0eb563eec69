import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';

import { expect, test } from 'vitest';

import { tarArchive, tempDir } from '#testing';
import { readTar } from './tar-reader.ts';

const LONG = `${'directory-with-a-long-name/'.repeat(6)}file.txt`;

/** The whole archive, in chunks of the given size. */
async function* chunksOf(archive: Buffer, chunkBytes = archive.length) {
  for (let at = 0; at < archive.length; at += chunkBytes) yield archive.subarray(at, at + chunkBytes);
}

async function entriesOf(source: AsyncIterable<Uint8Array>) {
  const entries = [];
  for await (const { header, body } of readTar(source)) {
    const pieces: Buffer[] = [];
    for await (const piece of body()) pieces.push(piece);
    entries.push({ ...header, content: Buffer.concat(pieces).toString() });
  }
  return entries;
}

// Names of the formats in `tar`; v7 has no long names.
test.each(['v7', 'oldgnu', 'gnu', 'ustar', 'pax'])('reads what tar writes as %s', async (format) => {
  const long = format === 'v7' ? 'file.txt' : LONG;
  await using dir = await tempDir({ [long]: 'long', 'b/empty': '', 'b/ümlaut': 'x'.repeat(1000), 'c/': '' });
  dir.add({ 'b/link': { symlink: 'ümlaut' } });
  const written = execFileSync('tar', [
    ...[`--format=${format}`, '--sort=name', '--owner=12', '--group=34', '--numeric-owner', '--mtime=@1234567890'],
    ...['--mode=u=rwx,go=rx', '-C', dir.root, '-c', '.'],
  ]);

  const entries = await entriesOf(chunksOf(written, 700));
  const facts = { mode: 0o755, uid: 12, gid: 34, mtimeSecs: 1_234_567_890 };
  const text = (name: string) => Buffer.from(name, 'latin1').toString();
  const rows = entries.map(({ name, type, content, linkName }) => [text(name), type, content, text(linkName)]);
  expect(rows).toEqual(
    expect.arrayContaining([
      ['./', 'directory', '', ''],
      ['./b/empty', 'file', '', ''],
      ['./b/link', 'symlink', '', 'ümlaut'],
      ['./b/ümlaut', 'file', 'x'.repeat(1000), ''],
      [`./${long}`, 'file', 'long', ''],
      ['./c/', 'directory', '', ''],
    ]),
  );
  expect(entries.filter(({ type }) => type !== 'symlink')).toEqual(
    entries.filter(({ type }) => type !== 'symlink').map((entry) => ({ ...entry, ...facts })),
  );
});

test('finds the same entries however the archive is cut', async () => {
  const archive = tarArchive([
    { name: 'a', content: 'x'.repeat(513) },
    { name: 'b', pax: { path: 'renamed', mtime: '1.5' }, content: 'y' },
  ]);
  const whole = await entriesOf(chunksOf(archive));
  expect(whole.map(({ name, mtimeSecs }) => [name, mtimeSecs])).toEqual([
    ['a', 1_000_000_000],
    ['renamed', 1.5],
  ]);
  for (const chunkBytes of [1, 511, 512, 513, 4096]) {
    expect(await entriesOf(chunksOf(archive, chunkBytes))).toEqual(whole);
  }
});

test('passes over what was not read of an entry', async () => {
  const archive = tarArchive([
    { name: 'a', content: 'x'.repeat(3000) },
    { name: 'b', content: 'y' },
  ]);
  const names = [];
  for await (const { header } of readTar(chunksOf(archive, 100))) names.push(header.name);
  expect(names).toEqual(['a', 'b']);
});

test('reads names that are not UTF-8 without loss', async () => {
  await using dir = await tempDir();
  mkdirSync(Buffer.concat([Buffer.from(`${dir.root}/`), Buffer.from([0xff, 0xfe])]));
  writeFileSync(Buffer.concat([Buffer.from(`${dir.root}/`), Buffer.from([0xff, 0xfe]), Buffer.from('/f')]), '');
  const written = execFileSync('tar', ['-C', dir.root, '-c', '.']);
  expect((await entriesOf(chunksOf(written))).map(({ name }) => name).toSorted()).toEqual([
    './',
    './\xff\xfe/',
    './\xff\xfe/f',
  ]);
});

const damaged = Buffer.from(tarArchive([{ name: 'a', content: 'x' }]));
damaged[0] = 0x62;

test.each([
  ['a wrong checksum', damaged, /wrong checksum/],
  ['an end in a header', tarArchive([{ name: 'a' }]).subarray(0, 300), /ends at byte 300, in the middle of a header/],
  [
    'an end in an entry',
    tarArchive([{ name: 'a', content: 'x'.repeat(600) }]).subarray(0, 700),
    /ends at byte 700, in the middle of a:/,
  ],
  [
    'a malformed pax record',
    tarArchive([{ name: 'p', flag: 'x', content: '99 a=b\n' }]),
    /byte 0 of p is malformed; it begins with "99 a=b\\n"$/,
  ],
  ['a pax size that is not a number', tarArchive([{ name: 'a', pax: { size: '1e9' } }]), /says size=1e9/],
  ['a sparse file', tarArchive([{ name: 'a', pax: { 'GNU.sparse.major': '1' } }]), /sparse file/],
  [
    'metadata without end',
    tarArchive([{ name: 'a', flag: 'x', size: 2 ** 30 }]),
    /^a has 1073741824 bytes of metadata; the limit is 1048576$/,
  ],
])('refuses %s', async (_, archive, message) => {
  await expect(entriesOf(chunksOf(archive))).rejects.toThrow(message);
});
